import { GitError } from './git-error.ts';

const LONGEST_URL = 2048;
// Whitespace and controls vanish or move inside a URL when it is parsed: what was checked would not be what is used.
const UNPRINTABLE = /[\p{Cc}\p{Z}]/u;

/**
 * The repository's address, if it is one that Atoll goes to: https, no user information, no query, no fragment.
 *
 * @returns the normalised URL without a slash at its end
 * @throws GitError `InvalidSource`; the message never repeats the URL, which may hold a password
 */
export function checkRepositoryUrl(text: string): string {
  if (text.length > LONGEST_URL || UNPRINTABLE.test(text)) throw invalid('is too long or holds blanks or controls');
  const url = URL.parse(text);
  if (url === null) throw invalid('is not a URL; write https://host/path');
  if (url.protocol !== 'https:') throw invalid('must start with https://; other schemes are not read');
  if (url.username !== '' || url.password !== '') throw invalid('carries credentials; put them into the Secret');
  if (url.search !== '' || url.hash !== '') throw invalid('has a query or a fragment; a repository has neither');
  if (url.pathname === '/') throw invalid('names a host, but no repository');
  return url.href.replace(/\/+$/, '');
}

function invalid(fault: string): GitError {
  return new GitError('InvalidSource', `the repository's URL ${fault}`);
}
