// Names for controls that the theme and the gallery leave unnamed, for readers of screens and for
// the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("li.has-children > details > summary")) {
    const link = summary.closest("li").querySelector(":scope > a");
    if (link) summary.setAttribute("aria-label", `Pages below ${link.textContent.trim()}`);
  }
  for (const link of document.querySelectorAll(".sphx-glr-thumbcontainer a.internal")) {
    link.setAttribute("aria-label", link.textContent.trim());
  }
});

// A formula that is wider than a phone can be scrolled with the keyboard.
window.addEventListener("load", async () => {
  if (!window.MathJax?.startup) return;
  await window.MathJax.startup.promise;
  for (const formula of document.querySelectorAll("mjx-container[display]")) {
    if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
  }
});
