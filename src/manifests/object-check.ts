import { SERVER_METADATA } from '../kernel/index.ts';
import type { Json, KubernetesObject } from '../kernel/index.ts';

/** Something wrong with an object, at a field (`metadata.name`; empty for the object itself). */
export interface FieldMistake {
  readonly path: string;
  readonly message: string;
}

type JsonObject = Readonly<Record<string, Json>>;

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** Whether a value is a JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What keeps a document from being a Kubernetes object at all; nothing for one that is. */
export function objectMistakes(value: JsonObject): readonly FieldMistake[] {
  if ('sops' in value && isJsonObject(value['sops'])) {
    return [{ path: 'sops', message: 'the manifest is encrypted with SOPS, which Atoll cannot decrypt' }];
  }
  const mistakes = [...textMistakes(value, 'apiVersion'), ...textMistakes(value, 'kind')];
  if (mistakes.length > 0) return mistakes;
  const { metadata } = value;
  if (!isJsonObject(metadata)) return [{ path: 'metadata', message: 'must be given' }];
  return [
    ...nameMistakes(metadata),
    ...(metadata['namespace'] === undefined || metadata['namespace'] === null
      ? []
      : textMistakes(metadata, 'namespace', 'metadata.')),
    ...textMapMistakes(metadata, 'labels'),
    ...textMapMistakes(metadata, 'annotations'),
  ];
}

function nameMistakes(metadata: JsonObject): readonly FieldMistake[] {
  if (metadata['generateName'] !== undefined && metadata['name'] === undefined) {
    const message = 'every sync would make another object; write metadata.name';
    return [{ path: 'metadata.generateName', message }];
  }
  return textMistakes(metadata, 'name', 'metadata.');
}

function textMistakes(object: JsonObject, field: string, prefix = ''): readonly FieldMistake[] {
  const value = object[field];
  const path = `${prefix}${field}`;
  if (value === undefined || value === null || value === '') return [{ path, message: 'must be given' }];
  return typeof value === 'string' ? [] : [{ path, message: 'must be text: put it in quotes' }];
}

/** YAML makes booleans and numbers of `yes`, `on` and `012`; labels and annotations are text. */
function textMapMistakes(metadata: JsonObject, field: string): readonly FieldMistake[] {
  const map = metadata[field];
  const path = `metadata.${field}`;
  if (map === undefined || map === null) return [];
  if (!isJsonObject(map)) return [{ path, message: 'must be a mapping' }];
  return Object.entries(map)
    .filter(([, value]) => typeof value !== 'string' && value !== null)
    .map(([name]) => ({
      path: `${path}[${JSON.stringify(name)}]`,
      message: 'must be text: put it in quotes',
    }));
}

/** The object without what only a server sets. The given one stays as it is: aliases share parts of it. */
export function withoutServerFields(object: JsonObject): KubernetesObject {
  const metadata = Object.entries(object['metadata'] as JsonObject)
    .filter(([field, value]) => !SERVER_METADATA.has(field) && !(field === 'namespace' && value === null))
    .map(([field, value]): [string, Json] => [field, field === 'annotations' ? withoutLastApplied(value) : value]);
  const fields = Object.entries(object)
    .filter(([field]) => field !== 'status')
    .map(([field, value]): [string, Json] => [field, field === 'metadata' ? Object.fromEntries(metadata) : value]);
  return Object.fromEntries(fields) as unknown as KubernetesObject;
}

function withoutLastApplied(annotations: Json): Json {
  if (!isJsonObject(annotations) || !(LAST_APPLIED in annotations)) return annotations;
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => name !== LAST_APPLIED));
}
