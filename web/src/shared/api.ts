// Requests to the server, and the errors that they raise.

/** The server refused a request: its message, its status, and the body of its answer. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly body: Record<string, unknown>,
  ) {
    super(message);
  }
}

/** The server could not be reached at all. */
class Unreachable extends Error {
  constructor() {
    super("The server does not answer. Is groupcm still running in its terminal?");
  }
}

async function fetchOrThrow(path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin" });
  } catch {
    throw new Unreachable();
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  const message = typeof body.error === "string" ? body.error : `The server answered ${response.status}.`;
  throw new Refusal(message, response.status, body);
}

export async function request<Answer>(
  method: string,
  path: string,
  body?: unknown,
  extraHeaders: Record<string, string> = {},
): Promise<Answer> {
  const isFile = body instanceof Blob;
  const payload = body === undefined || isFile ? body : JSON.stringify(body);
  const headers: Record<string, string> =
    body === undefined ? {} : { "Content-Type": isFile ? "application/octet-stream" : "application/json" };
  return (await fetchOrThrow(path, { method, headers: { ...headers, ...extraHeaders }, body: payload })).json();
}

/** Let the browser download a file; return the server's warnings. A body is posted as JSON. */
export async function download(path: string, body?: unknown): Promise<string[]> {
  const posted = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetchOrThrow(path, body === undefined ? {} : posted);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? "";
  link.click();
  // Some browsers read the address only after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return JSON.parse(decodeURIComponent(response.headers.get("X-Warnings") ?? "%5B%5D"));
}

export const get = <Answer>(path: string) => request<Answer>("GET", path);

export const pixelsOf = (picture: number) => `/api/pictures/${picture}/pixels`;
export const previewOf = (picture: number) => `/api/pictures/${picture}/preview`;
export const thumbnailOf = (picture: number) => `/api/pictures/${picture}/thumbnail`;

/** Pictures with more pixels are shown as a preview until they are loaded. */
const MAX_PIXELS_WITHOUT_PREVIEW = 4_000_000;
export const isLargePicture = ({ width, height }: { width: number; height: number }) =>
  width * height > MAX_PIXELS_WITHOUT_PREVIEW;
