// Requests that change something tell what this page was opened for.
import { request } from "../shared/api";
import { project } from "./state";

export const requestChange = <Answer>(method: string, path: string, body?: unknown) =>
  request<Answer>(method, path, body, { "Groupcm-Project": project.peek()!.project });
