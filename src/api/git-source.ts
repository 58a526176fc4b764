import { z } from 'zod';

import { conditionsSchema, lastHandledReconcileAtSchema, observedGenerationSchema } from './condition.ts';
import { durationSchema } from './duration.ts';
import { dnsSubdomainSchema } from './names.ts';
import { objectSchema, publishedKind, type ObjectOf } from './published-kind.ts';
import { withRules } from './rule.ts';
import { textSchema } from './text.ts';

const HTTPS_URL = /^https:\/\/[^\s/@?#]+(\/[^\s?#]*)?$/;

function secretReferenceSchema(description: string): z.ZodExactOptional<z.ZodObject<{ name: z.ZodString }>> {
  return z
    .strictObject({ name: dnsSubdomainSchema.describe('Name of a Secret in the namespace of the GitSource.') })
    .describe(description)
    .exactOptional();
}

const referenceSchema = z.strictObject({
  branch: textSchema(255, /^[A-Za-z0-9_][^\s~^:?*[\\]*$/, 'the name of a branch')
    .default('main')
    .describe('The branch whose newest commit is applied.'),
});

const pathSchema = withRules(z.string().max(1024), {
  cel: "!self.startsWith('/') && !('..' in self.split('/'))",
  message: 'must be relative to the root of the repository and must not contain ".."',
  holds: (path) => !path.startsWith('/') && !path.split('/').includes('..'),
});

const specSchema = z.strictObject({
  url: textSchema(2048, HTTPS_URL, 'an HTTPS URL without credentials, which belong in secretRef').describe(
    'Where the repository is.',
  ),
  ref: referenceSchema.prefault({}).describe('What of the repository to follow.'),
  path: pathSchema.default('').describe('Folder whose manifests are applied, with its subfolders; empty for all.'),
  interval: durationSchema('10s').default('1m').describe('How often to look for a new commit.'),
  timeout: durationSchema('1s').default('60s').describe('How long one look, with its download, may take.'),
  secretRef: secretReferenceSchema('Credentials: the keys username and password, or bearerToken.'),
  caSecretRef: secretReferenceSchema("Certificate authority of the repository's server: the key ca.crt, in PEM."),
  serviceAccountName: dnsSubdomainSchema
    .exactOptional()
    .describe(
      "Service account in the GitSource's namespace that Atoll acts as when it writes to the hub. Without one it writes " +
        'as itself, and then federated objects of that namespace only.',
    ),
  prune: z.boolean().default(true).describe('Whether objects that a newer commit no longer has are deleted.'),
  suspend: z.boolean().default(false).describe('Whether to leave everything as it is, and new commits alone.'),
});

const revisionForm = 'as `<branch>@sha1:<commit>`';

const statusSchema = z.strictObject({
  observedGeneration: observedGenerationSchema,
  conditions: conditionsSchema(
    'Ready, Suspended while it is, and FieldsLeft while others hold fields of what was applied',
  ).exactOptional(),
  observedRevision: z.string().exactOptional().describe(`The newest commit seen, ${revisionForm}.`),
  attemptedRevision: z.string().exactOptional().describe(`The commit that was last tried, ${revisionForm}.`),
  appliedRevision: z.string().exactOptional().describe(`The commit that was last applied whole, ${revisionForm}.`),
  inventory: z
    .strictObject({ objects: z.int().min(0).describe('How many objects the source has on the hub.') })
    .exactOptional()
    .describe('Summary of what the source has applied.'),
  lastHandledReconcileAt: lastHandledReconcileAtSchema.exactOptional(),
});

/** The whole object. */
const gitSourceSchema = objectSchema({
  apiVersion: 'federation.atoll.dev/v1',
  kind: 'GitSource',
  description: 'A folder of a Git repository whose manifests Atoll keeps applied to the hub.',
  spec: specSchema,
  status: statusSchema,
});

/** A Git source, as the hub serves it. */
export type GitSource = ObjectOf<typeof gitSourceSchema>;

/** The kind GitSource. */
export const gitSourceKind = publishedKind({
  group: 'federation.atoll.dev',
  kind: 'GitSource',
  plural: 'gitsources',
  scope: 'Namespaced',
  location: 'hub',
  shortNames: ['gitsrc'],
  categories: ['federation'],
  versions: [{ name: 'v1', schema: gitSourceSchema }],
  printerColumns: [
    { name: 'URL', type: 'string', jsonPath: '.spec.url', description: 'The repository.' },
    {
      name: 'Ready',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].status',
      description: 'Whether its newest commit is applied.',
    },
    { name: 'Revision', type: 'string', jsonPath: '.status.appliedRevision', description: 'The commit applied.' },
    {
      name: 'Status',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].message',
      description: 'What it is doing, or what is wrong.',
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since it was created.' },
  ],
});
