// What the server says of a folder under annotation.
import type { MarkedObject } from "../shared/types";

export interface Format {
  name: string;
  title: string;
  folder: boolean;
}

export interface Project {
  /** What this is: a folder together with a file of annotations. */
  project: string;
  /** Of the names of the pictures, by which numbers have a meaning. */
  list: string;
  folder: string;
  file: string;
  categories: string[];
  formats: Format[];
  suggestions: boolean;
  model: boolean;
  threshold: number | null;
  import_limit: number;
  /** The most characters of a name that is typed. */
  category_limit: number;
  version: string;
}

export interface Summary {
  done: boolean;
  objects: number;
  version: number;
  score: number | null;
  /** Named to be corrected first. */
  first: boolean;
  /** What the reviewer wrote about that. */
  note: string;
  /** Why the picture cannot be read, once that is known. */
  error: string | null;
}

export interface Listed {
  revision: number;
  names: string[];
  summaries: Summary[];
}

export interface Changes {
  project: string;
  list: string;
  revision: number;
  summaries: Record<string, Summary>;
  categories: string[];
  scored: number;
  scoring: boolean;
}

/** What an annotator says of a picture. */
export interface Content {
  done: boolean;
  objects: MarkedObject[];
}

export interface PictureRecord extends Content {
  project: string;
  name: string;
  width: number;
  height: number;
  version: number;
}

export type ObjectId = MarkedObject["id"];
