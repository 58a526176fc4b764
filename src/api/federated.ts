import { z } from 'zod';

import { conditionsSchema, lastHandledReconcileAtSchema, observedGenerationSchema, timeSchema } from './condition.ts';
import { annotationsSchema, labelsSchema } from './metadata.ts';
import { dnsSubdomainSchema, workloadNameRules } from './names.ts';
import { overridesSchema } from './override.ts';
import { placementSchema } from './placement.ts';
import { policySchema } from './policy.ts';
import { objectSchema, publishedKind, type Immutable, type ObjectOf, type PublishedKind } from './published-kind.ts';
import { withRules } from './rule.ts';
import { DEFAULTED_IN_MEMBER } from './structural-schema.ts';

const FEDERATION = 'federation.atoll.dev';

const anySpecSchema = z.looseObject({});

const templateMetadataSchema = z.strictObject({
  labels: labelsSchema.exactOptional().describe('Labels of the object in the member clusters.'),
  annotations: annotationsSchema.exactOptional().describe('Annotations of the object in the member clusters.'),
});

const placementRowSchema = z.strictObject({
  cluster: z.string().describe('Name of the member cluster.'),
  targetRevision: z.string().describe('Revision that the cluster shall have; empty when the object is withdrawn.'),
  state: z
    .enum(['Synced', 'OutOfDate', 'Conflict', 'Blocked', 'Unknown'])
    .describe('How what the cluster has relates to what it shall have.'),
  phase: z.string().exactOptional().describe('Phase of the object in the cluster.'),
  observed: z.looseObject({}).exactOptional().describe("The kind's own figures in the cluster."),
  lastTransitionTime: timeSchema.exactOptional().describe('When the state last changed.'),
  lastSuccessTime: timeSchema.exactOptional().describe('When the cluster last came to have what it shall have.'),
  reason: z.string().exactOptional().describe('Why, as one word for programs.'),
  message: z.string().exactOptional().describe('Why, as a sentence of at most 256 characters for people.'),
});

const clusterCountsSchema = z.strictObject({
  desired: z.int().min(0).describe('Clusters that the object is placed on.'),
  synced: z.int().min(0).describe('Of these, those that have what they shall have.'),
  ready: z.int().min(0).describe('Of these, those where it is ready.'),
  summary: z.string().describe('"ready/desired", for people.'),
});

const statusSchema = z.strictObject({
  observedGeneration: observedGenerationSchema,
  phase: z
    .enum(['Pending', 'Progressing', 'Scaling', 'Running', 'Failed', 'Terminating'])
    .exactOptional()
    .describe('The state in one word.'),
  sourceRevision: z
    .string()
    .exactOptional()
    .describe('The Git commit that last changed the object, as `<branch>@sha1:<commit>`.'),
  currentRevision: z.string().exactOptional().describe('The revision that all clusters have had last.'),
  updateRevision: z.string().exactOptional().describe('The revision that the clusters are brought to.'),
  clusters: clusterCountsSchema.exactOptional().describe('The clusters in numbers.'),
  conditions: conditionsSchema(
    'Ready, Available, Progressing, Degraded, Reconciling, Stalled, FieldsLeft',
  ).exactOptional(),
  observed: z.looseObject({}).exactOptional().describe("The kind's own figures, over all clusters."),
  placements: z
    .array(placementRowSchema)
    .meta({ 'x-kubernetes-list-type': 'atomic' })
    .exactOptional()
    .describe('One row for each cluster.'),
  lastHandledReconcileAt: lastHandledReconcileAtSchema.exactOptional(),
});

/** The frame around any target: the schema of a federated kind, whose template holds the target's own spec. */
function federatedSchema<TargetSpec extends z.ZodType>(kind: string, targetKind: string, targetSpec: TargetSpec) {
  const template = z.strictObject({
    metadata: templateMetadataSchema.exactOptional().describe('Labels and annotations of the object.'),
    spec: targetSpec.describe(`Spec of the ${targetKind}.`),
  });
  const spec = z.strictObject({
    // Defaults are the members' business: what Git does not say must not become part of a revision.
    template: template
      .meta({ [DEFAULTED_IN_MEMBER]: true })
      .describe('The object as it shall be in the member clusters, without kind, name and status.'),
    placement: placementSchema.describe('Member clusters that the object shall be in.'),
    overrides: overridesSchema.exactOptional().describe('Changes to the object for some clusters, applied in order.'),
    policy: policySchema.prefault({}).describe('What to do in delicate situations.'),
    revisionHistoryLimit: z
      .int()
      .min(0)
      .max(100)
      .default(10)
      .describe('How many revisions are kept beside those in use.'),
    serviceAccountName: dnsSubdomainSchema
      .exactOptional()
      .describe("Service account in the object's namespace of each member that Atoll acts as when it writes there."),
    suspend: z.boolean().default(false).describe('Whether to leave the member clusters as they are.'),
  });
  return withRules(
    objectSchema({
      apiVersion: `${FEDERATION}/v1`,
      kind,
      description: `A ${targetKind} in many member clusters: one template, a placement, and the state of all of them.`,
      spec,
      status: statusSchema,
    }),
    ...workloadNameRules,
  );
}

/** A federated object of any kind, as the hub serves it: what is inside `template.spec` is the target's business. */
export type FederatedObject = ObjectOf<ReturnType<typeof federatedSchema<typeof anySpecSchema>>>;

/** One row of a federated object's status. */
export type PlacementRow = Immutable<z.output<typeof placementRowSchema>>;

/** The federated kind of a target, with the target's name, plural and CRD schema in it. */
export function federate(target: PublishedKind, shortName: string): PublishedKind {
  const kind = `Federated${target.gvk.kind}`;
  const schema = federatedSchema(kind, target.gvk.kind, target.schema.shape['spec'] as z.ZodType);
  return publishedKind({
    group: FEDERATION,
    kind,
    plural: `federated${target.plural}`,
    scope: 'Namespaced',
    location: 'hub',
    shortNames: [shortName],
    categories: ['federation'],
    versions: [{ name: 'v1', schema }],
    printerColumns: [
      {
        name: 'Clusters',
        type: 'string',
        jsonPath: '.status.clusters.summary',
        description: 'Clusters where it is ready, of those it is placed on.',
      },
      {
        name: 'Ready',
        type: 'string',
        jsonPath: '.status.conditions[?(@.type=="Ready")].status',
        description: 'Whether all of them are as they shall be.',
      },
      {
        name: 'Version',
        type: 'string',
        jsonPath: '.status.observed.currentVersion',
        description: 'The version that all clusters run.',
      },
      {
        name: 'Revision',
        type: 'string',
        jsonPath: '.status.sourceRevision',
        description: 'The Git commit that last changed it.',
      },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp', description: 'Time since it was created.' },
      { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'The state in one word.', priority: 1 },
      {
        name: 'Message',
        type: 'string',
        jsonPath: '.status.conditions[?(@.type=="Ready")].message',
        description: 'What is wrong or awaited, if anything.',
        priority: 1,
      },
    ],
  });
}
