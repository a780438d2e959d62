// Types of the JSON that the review page receives from the server.
import type { Candidate, MarkedObject } from "../shared/types";

export interface Project {
  page: "review";
  /** Identifies the model and the pictures; another project numbers its pictures differently. */
  project: string;
  folder: string;
  model: string;
  /** The arguments of the command that opens the marked pictures. */
  annotate: string[];
  threshold: number | null;
  truth: boolean;
  categories: string[];
  version: string;
}

export interface Mark {
  kind: "annotation";
  note: string;
}

export interface Result {
  score: number | null;
  probability: number | null;
  winner: [number, number, number, number] | null;
  width: number | null;
  height: number | null;
  truth: boolean | null;
  on_object: boolean | null;
  mark: Mark | null;
  /** Changes when the file of the picture changes. */
  stamp: string | null;
  /** Why the picture could not be read. */
  error: string | null;
}

/** Null until the picture is scored. */
export type Results = readonly (Result | null)[];

export interface PictureList {
  project: string;
  revision: number;
  names: string[];
  results: (Result | null)[];
  scored: number;
  failed: number;
}

export interface Changes {
  project: string;
  revision: number;
  results: Record<string, Result>;
  scored: number;
  failed: number;
  scoring: boolean;
}

export interface ScoredPicture {
  name: string;
  /** The stamp of the file in which the candidates were found. */
  stamp: string;
  width: number;
  height: number;
  score: number;
  probability: number | null;
  threshold: number | null;
  /** The index of the winner among the candidates. */
  winner: number;
  candidates: Candidate[];
  objects: MarkedObject[] | null;
}

export interface FeatureContribution {
  name: string;
  family: string;
  value: number;
  typical: number | null;
  contribution: number;
}

export interface FamilyContribution {
  family: string;
  contribution: number;
}

export interface Explanation {
  score: number;
  baseline: string;
  base: number;
  features: FeatureContribution[];
  families: FamilyContribution[];
}
