import { apiVersionOf } from '../kernel/index.ts';
import type { GroupVersionKind, KubernetesObject } from '../kernel/index.ts';
import { isFields, readFields } from './answer.ts';
import type { Fields } from './answer.ts';
import { UnexpectedAnswerError } from './api-errors.ts';
import type { ListPage } from './client-options.ts';
import type { Answer } from './transport.ts';

/** The page that an answer to a list holds. Items of built-in kinds come without apiVersion and kind, and are given them. */
export function readListPage(answer: Answer, gvk: GroupVersionKind): ListPage {
  const what = `list ${gvk.kind}`;
  const { items, metadata } = readFields(answer, { what, gvk });
  const resourceVersion = isFields(metadata) ? metadata['resourceVersion'] : undefined;
  if (!isFields(metadata) || typeof resourceVersion !== 'string' || resourceVersion === '') {
    throw new UnexpectedAnswerError(`${what}: the answer bears no resourceVersion`);
  }
  // An empty list may come as null from an aggregated API server that is written in Go.
  const objects = (Array.isArray(items) ? items : []).map((item) => readItem(item, gvk, what));
  if (items !== null && !Array.isArray(items)) throw new UnexpectedAnswerError(`${what}: the answer bears no items`);
  const next = metadata['continue'];
  return { items: objects, resourceVersion, ...(typeof next === 'string' && next !== '' && { continue: next }) };
}

function readItem(item: unknown, gvk: GroupVersionKind, what: string): KubernetesObject {
  if (isFields(item) && isFields(item['metadata']) && typeof item['metadata']['name'] === 'string') {
    return { apiVersion: apiVersionOf(gvk), kind: gvk.kind, ...item } as Fields & KubernetesObject;
  }
  throw new UnexpectedAnswerError(`${what}: an item of the answer is no object with a name`);
}
