import type { ManifestError } from './manifest.ts';

const ENDING = /\.(?:ya?ml|json)$/;

/** Files that say that their folder is something else than manifests, and what to do. */
const FOREIGN: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:kustomization\.ya?ml|Kustomization)$/,
    'this folder is a Kustomize overlay, which Atoll does not build; commit what `kustomize build` renders',
  ],
  [/^Chart\.yaml$/, 'this folder is a Helm chart, which Atoll does not render; commit what `helm template` renders'],
];

/**
 * Which files are read as manifests: YAML and JSON that is not hidden, in folders that are not. The names that
 * {@link foreignFolders} looks for are among them.
 */
export const manifestFilter = {
  folder: (path: string): boolean => !baseName(path).startsWith('.'),
  file: (path: string): boolean => {
    const name = baseName(path);
    return !name.startsWith('.') && (ENDING.test(name) || isForeign(name));
  },
};

/** Folders whose files cannot be taken for manifests: one error each, in place of many that miss the point. */
export function foreignFolders(paths: readonly string[]): ReadonlyMap<string, ManifestError> {
  const folders = new Map<string, ManifestError>();
  for (const file of paths) {
    const [, message] = FOREIGN.find(([name]) => name.test(baseName(file))) ?? [];
    if (message !== undefined) folders.set(folderOf(file), { file, line: 1, column: 1, message });
  }
  return folders;
}

/** Whether a file is in one of the folders, or below. */
export function isWithin(path: string, folders: ReadonlyMap<string, unknown>): boolean {
  if (folders.size === 0) return false;
  for (let folder = folderOf(path); ; folder = folderOf(folder)) {
    if (folders.has(folder)) return true;
    if (folder === '') return false;
  }
}

function isForeign(name: string): boolean {
  return FOREIGN.some(([pattern]) => pattern.test(name));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}
