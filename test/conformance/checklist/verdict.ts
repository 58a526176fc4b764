/** What became of an upstream test here. */
export type Verdict =
  /** A test of this folder bears its name. */
  | typeof COVERED
  /** A test elsewhere covers it: its file, and its title. */
  | { readonly elsewhere: string; readonly test: string }
  /** It makes no sense in TypeScript, or here. */
  | { readonly skipped: string };

/** A test of this folder bears the name. */
export const COVERED = 'covered';

/** Upstream file → name of the test → verdict. Titles of tests begin with the name. */
export type Checklist = Readonly<Record<string, Readonly<Record<string, Verdict>>>>;
