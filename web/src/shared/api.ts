// Requests to the server, and what it says when it refuses.

/** The server's refusal: its sentence, its status, and the body it came with. */
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
export class Unreachable extends Error {
  constructor() {
    super("The server does not answer. Is groupcm still running in its terminal?");
  }
}

async function answered(path: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin" });
  } catch {
    throw new Unreachable();
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  const told = typeof body.error === "string" ? body.error : `The server answered ${response.status}.`;
  throw new Refusal(told, response.status, body);
}

export async function request<Answer>(
  method: string,
  path: string,
  body?: unknown,
  others: Record<string, string> = {},
): Promise<Answer> {
  const isFile = body instanceof Blob;
  const payload = body === undefined || isFile ? body : JSON.stringify(body);
  const headers: Record<string, string> =
    body === undefined ? {} : { "Content-Type": isFile ? "application/octet-stream" : "application/json" };
  return (await answered(path, { method, headers: { ...headers, ...others }, body: payload })).json();
}

/** Let the browser keep a file; the sentences the server sent with it. A body is posted as JSON. */
export async function download(path: string, body?: unknown): Promise<string[]> {
  const posted = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await answered(path, body === undefined ? {} : posted);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? "";
  link.click();
  // Some browsers read it only after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return JSON.parse(decodeURIComponent(response.headers.get("X-Warnings") ?? "%5B%5D"));
}

export const get = <Answer>(path: string) => request<Answer>("GET", path);

export const pixelsOf = (picture: number) => `/api/pictures/${picture}/pixels`;
export const previewOf = (picture: number) => `/api/pictures/${picture}/preview`;
export const thumbnailOf = (picture: number) => `/api/pictures/${picture}/thumbnail`;

/** Larger pictures are shown as a preview until all their pixels are there. */
const MOST_PIXELS_AT_ONCE = 4_000_000;
export const isLargePicture = ({ width, height }: { width: number; height: number }) =>
  width * height > MOST_PIXELS_AT_ONCE;
