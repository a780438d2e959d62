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

export async function request<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const isFile = body instanceof Blob;
  const payload = body === undefined || isFile ? body : JSON.stringify(body);
  const headers: Record<string, string> =
    body === undefined ? {} : { "Content-Type": isFile ? "application/octet-stream" : "application/json" };
  let response: Response;
  try {
    response = await fetch(path, { method, headers, body: payload, credentials: "same-origin" });
  } catch {
    throw new Unreachable();
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) {
    const told = typeof answer.error === "string" ? answer.error : `The server answered ${response.status}.`;
    throw new Refusal(told, response.status, answer);
  }
  return answer as Answer;
}

export const get = <Answer>(path: string) => request<Answer>("GET", path);

export const pixelsOf = (picture: number) => `/api/pictures/${picture}/pixels`;
export const thumbnailOf = (picture: number) => `/api/pictures/${picture}/thumbnail`;
