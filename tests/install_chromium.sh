#!/bin/sh
# Chromium for the tests that open pages in a browser: installed where that is possible,
# and otherwise said plainly.
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" > /dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  echo "installing Chromium for the tests in a browser"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq &&
    apt-get install -y -qq --no-install-recommends chromium > /dev/null && exit 0
fi
echo "There is no Chromium here, so tests in a browser will be skipped."
echo "To run them, install it (on Debian: sudo apt-get install chromium) and try again."
