/**
 * From a snapshot's files to Kubernetes objects with source positions, and from an object to the one with overrides.
 *
 * **Reading.** `ManifestReader` reads YAML and JSON exactly as kubectl's decoder does (go-yaml v2: `yes` is true, `0644` is 420,
 * dates are text, integers stay exact to 64 bits), so that moving from `kubectl apply` changes nothing silently.
 * `kubectl-decoder.json` holds what kubectl makes of each case, and the tests compare. Where kubectl would lose something
 * without a word, the document is refused instead: duplicate keys, content after `...`, `<<` below other keys, fractions as
 * keys, and line breaks that only YAML 1.1 knows.
 *
 * **All or nothing.** The answer is every manifest of the revision, or every mistake with file, line and column: syntax,
 * what is missing, what `validate` finds (at the field it names), an object written twice. Messages say what is wrong, never
 * the values that are there: they may be secret. Kustomize overlays, Helm charts and SOPS files are refused by name, with the
 * way to go.
 *
 * **Limits** ({@link ManifestLimits}) hold before anything is built: nesting and values are counted with aliases expanded.
 * Time and memory are held by the child process that this runs in (`git/`). A file whose content is known is not parsed
 * again. 2,000 manifests of 800 bytes take about a second the first time.
 *
 * **Overrides** (`applyOverrides`) are RFC 6902, all six operations, pure: the object given is never changed. A failing
 * operation is an {@link OverrideError}, terminal, naming override, operation and path.
 *
 * @module
 */
export type { Manifest, ManifestError, ManifestReading, SourcePosition } from './manifest.ts';
export type { ManifestLimits } from './manifest-limits.ts';
export { ManifestReader, type ManifestReaderOptions, type ReadingOptions } from './manifest-reader.ts';
export { manifestFilter } from './manifest-files.ts';
export type { Validate } from './file-reader.ts';
export { applyOverrides, OverrideError, type ObjectOverride } from './overrides.ts';
export type { JsonPatchOperation } from './json-patch.ts';
