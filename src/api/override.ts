import { z } from 'zod';

import { clusterNamesSchema, labelSelectorSchema } from './label-selector.ts';
import { dnsLabelSchema } from './names.ts';
import { withRules } from './rule.ts';
import { textSchema } from './text.ts';

const MOVING = ['move', 'copy'];
const VALUED = ['add', 'replace', 'test'];

// What makes the object this object, and its status, are not for overrides; labels and annotations are.
const CLOSED = ['/apiVersion', '/kind', '/metadata', '/status'];
const OPEN = ['/metadata/labels', '/metadata/annotations'];

const pointerSchema = textSchema(512, /^(\/([^/~]|~[01])*)*$/, 'a JSON pointer such as /spec/replicas');

const patchSchema = withRules(
  z.strictObject({
    op: z
      .enum(['add', 'remove', 'replace', 'test', 'copy', 'move'])
      .describe('The operation of RFC 6902; a test that fails stops the object from reaching the cluster.'),
    path: pointerSchema.describe('What is changed, from the root of the object.'),
    from: pointerSchema.exactOptional().describe('The source, for copy and move.'),
    value: z
      .unknown()
      .exactOptional()
      .describe('The value, for add, replace and test.')
      .meta({ 'x-kubernetes-preserve-unknown-fields': true, nullable: true }),
  }),
  {
    cel: "(self.op in ['move', 'copy']) == has(self.from)",
    message: 'from must be given for copy and move, and only for them',
    holds: ({ op, from }) => MOVING.includes(op) === (from !== undefined),
  },
  {
    cel: `self.op == 'test' || ${mayChangeInCel('self.path')}`,
    message: 'path must lead to the spec, or to labels or annotations: identity and status cannot be overridden',
    holds: ({ op, path }) => op === 'test' || mayChange(path),
  },
  {
    cel: `self.op != 'move' || !has(self.from) || ${mayChangeInCel('self.from')}`,
    message: 'from must not move away identity or status',
    holds: ({ op, from }) => op !== 'move' || from === undefined || mayChange(from),
  },
).refine(({ op, value }) => VALUED.includes(op) === (value !== undefined), {
  // CEL cannot see fields without a type, so the API server does not know this rule.
  error: 'value must be given for add, replace and test, and only for them',
});

/** Changes to the object for some of its clusters. */
const overrideSchema = withRules(
  z.strictObject({
    name: dnsLabelSchema.describe('Name of the override, for messages.'),
    clusters: clusterNamesSchema.exactOptional().describe('Clusters that it is for, by name.'),
    selector: labelSelectorSchema
      .exactOptional()
      .describe('Clusters that it is for, by label, in addition to those by name; {} selects all.'),
    patches: z.array(patchSchema).min(1).max(64).describe('The changes, applied in order.'),
  }),
  {
    cel: 'has(self.clusters) || has(self.selector)',
    message: 'clusters or selector must say where the override is for; selector {} is for all clusters',
    holds: ({ clusters, selector }) => clusters !== undefined || selector !== undefined,
  },
);

/** The overrides of an object, applied in order. */
export const overridesSchema = withRules(z.array(overrideSchema).max(64), {
  cel: 'self.all(one, self.exists_one(other, other.name == one.name))',
  message: 'every override must have a name of its own',
  holds: (overrides) => new Set(overrides.map(({ name }) => name)).size === overrides.length,
});

function mayChange(pointer: string): boolean {
  const leadsInto = (root: string): boolean => `${pointer}/`.startsWith(`${root}/`);
  return pointer !== '' && (OPEN.some(leadsInto) || !CLOSED.some(leadsInto));
}

/** The same in CEL, without regular expressions: at this depth of lists they would cost too much. */
function mayChangeInCel(pointer: string): string {
  const leadsInto = (roots: readonly string[]): string =>
    `[${roots.map((root) => `'${root}/'`).join(', ')}].exists(root, (${pointer} + '/').startsWith(root))`;
  return `${pointer} != '' && (${leadsInto(OPEN)} || !${leadsInto(CLOSED)})`;
}
