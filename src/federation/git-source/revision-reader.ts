import { parseDuration } from '../../api/index.ts';
import type { GitSource } from '../../api/index.ts';
import type { GitCredentials, GitReader } from '../../git/index.ts';
import type { Manifest, ManifestReading } from '../../manifests/index.ts';
import { SyncError, summarize } from './sync-error.ts';

/** One commit of a source, read whole and parsed whole. */
export interface ReadRevision {
  readonly revision: string;
  readonly manifests: readonly Manifest[];
}

interface Remembered extends ReadRevision {
  readonly oid: string;
  /** What of the spec the reading depends on. */
  readonly request: string;
}

/** Reads a source's revision, and remembers the last good one so that an unchanged branch costs one poll. */
export class RevisionReader {
  readonly #git: GitReader<ManifestReading>;
  readonly #remembered = new Map<string, Remembered>();

  constructor(git: GitReader<ManifestReading>) {
    this.#git = git;
  }

  /**
   * @throws GitError when the repository cannot be read; SyncError with every mistake, each with file, line and column,
   *   when its manifests cannot be used
   */
  async read(source: GitSource, credentials: GitCredentials): Promise<ReadRevision> {
    const { url, ref, path, timeout } = source.spec;
    const uid = source.metadata.uid ?? '';
    const base = { url, branch: ref?.branch ?? 'main', credentials, timeout: parseDuration(timeout) };
    const { oid } = await this.#git.poll(base);
    const request = JSON.stringify([url, base.branch, path]);
    const remembered = this.#remembered.get(uid);
    if (remembered?.oid === oid && remembered.request === request) return remembered;
    const defaultNamespace = source.metadata.namespace ?? '';
    const reading = await this.#git.read({
      ...base,
      path: path ?? '',
      expectedOid: oid,
      parseOptions: { defaultNamespace },
    });
    const manifests = requireManifests(reading.content, reading.revision);
    const read = { oid: reading.oid, request, revision: reading.revision, manifests };
    this.#remembered.set(uid, read);
    return read;
  }

  /** Lets go of a source that is being deleted. */
  forget(uid: string): void {
    this.#remembered.delete(uid);
  }
}

function requireManifests(content: ManifestReading, revision: string): readonly Manifest[] {
  if ('manifests' in content) return content.manifests;
  const problems = content.errors.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
  throw new SyncError('InvalidManifests', summarize(problems), { revision });
}
