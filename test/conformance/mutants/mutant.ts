/** A fault that somebody could make, and the test that must notice it. */
export interface Mutant {
  /** What is wrong with it, in a few words. */
  readonly name: string;
  /** The file that is changed, from the project's root. */
  readonly file: string;
  /** A text that is in the file exactly once, and what takes its place. */
  readonly search: string;
  readonly replacement: string;
  /** The beginning of the title of the test that must fail, in this folder's tests. */
  readonly test: string;
}
