import { GitError } from './git-error.ts';

const LONGEST_NAME = 250;
/** What `git check-ref-format --branch` refuses anywhere in a name. */
const REFUSED = /[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|^[-/]|[/.]$|^@$|^HEAD$|^refs\//u;

/**
 * The branch's full reference. The name becomes part of requests and of a path in the clone, hence Git's own rules.
 *
 * @throws GitError `InvalidSource`
 */
export function branchReference(branch: string): string {
  const wellFormed = branch !== '' && branch.length <= LONGEST_NAME && branch.isWellFormed() && !REFUSED.test(branch);
  if (!wellFormed || branch.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock'))) {
    throw new GitError('InvalidSource', `${JSON.stringify(branch.slice(0, 100))} is not the name of a branch`);
  }
  return `refs/heads/${branch}`;
}
