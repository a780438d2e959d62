// Types of the JSON that the annotate page exchanges with the server.
import type { MarkedObject } from "../shared/types";

export interface Format {
  name: string;
  title: string;
  folder: boolean;
}

export interface Project {
  /** Identifies the folder together with the file of annotations. */
  project: string;
  /** Identifies the list of pictures, whose order gives the numbers their meaning. */
  list: string;
  folder: string;
  file: string;
  categories: string[];
  formats: Format[];
  suggestions: boolean;
  model: boolean;
  threshold: number | null;
  import_limit: number;
  /** The maximum number of characters in the name of a category. */
  category_limit: number;
  version: string;
}

export interface Summary {
  done: boolean;
  objects: number;
  version: number;
  score: number | null;
  /** Whether the review marked the picture as to be corrected first. */
  first: boolean;
  /** The reviewer's note on the mark. */
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

/** The annotation of a picture. */
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
