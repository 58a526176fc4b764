import { z } from 'zod';

import { metadataSchema } from './metadata.ts';

/** A column of `kubectl get`; priority 1 shows it with `-o wide` only. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  readonly priority?: number;
}

/** One served version of a kind: its name and the schema of the whole object. */
export interface KindVersion {
  readonly name: string;
  readonly schema: z.ZodObject;
}

/** What is told about a kind; see {@link PublishedKind}. */
export interface KindDefinition {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly location: 'hub' | 'member';
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly printerColumns: readonly PrinterColumn[];
  /** The served versions; the first is the one that is stored. An older version is one more entry. */
  readonly versions: readonly [KindVersion, ...KindVersion[]];
}

/** A kind that Atoll publishes: everything that its CRD, its reference page and its validation are made of. */
export interface PublishedKind extends Omit<KindDefinition, 'group' | 'kind'> {
  /** Group, kind and the stored version. */
  readonly gvk: { readonly group: string; readonly version: string; readonly kind: string };
  /** The schema of the stored version, of the whole object. */
  readonly schema: z.ZodObject;
}

/** Completes a definition with what follows from its versions. */
export function publishedKind({ group, kind, ...definition }: KindDefinition): PublishedKind {
  const [stored] = definition.versions;
  return { ...definition, gvk: { group, version: stored.name, kind }, schema: stored.schema };
}

/** What {@link objectSchema} composes. */
interface ObjectParts<Spec extends z.ZodType, Status extends z.ZodType> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly description: string;
  readonly spec: Spec;
  readonly status: Status;
}

/** The shape of every published object. */
type ObjectShape<Spec extends z.ZodType, Status extends z.ZodType> = {
  apiVersion: z.ZodLiteral<string>;
  kind: z.ZodLiteral<string>;
  metadata: typeof metadataSchema;
  spec: Spec;
  status: z.ZodExactOptional<Status>;
};

/** The schema of a whole object. Its status defaults to `{}`, from which `observedGeneration` gets its own default. */
export function objectSchema<Spec extends z.ZodType, Status extends z.ZodType>(
  parts: ObjectParts<Spec, Status>,
): z.ZodObject<ObjectShape<Spec, Status>, z.core.$strict> {
  return z
    .strictObject({
      apiVersion: z.literal(parts.apiVersion).describe('Group and version of the object.'),
      kind: z.literal(parts.kind).describe('Kind of the object.'),
      metadata: metadataSchema.describe('Name, namespace, labels and annotations.'),
      spec: parts.spec.describe('What shall be.'),
      status: parts.status.exactOptional().meta({ description: 'What is, written by Atoll.', default: {} }),
    })
    .describe(parts.description);
}

/** Objects from the informers are shared, so their types cannot be written to. */
export type Immutable<Value> = Value extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : Value extends object
    ? { readonly [Field in keyof Value]: Immutable<Value[Field]> }
    : Value;

/** The type of the objects that a schema describes. */
export type ObjectOf<Schema extends z.ZodType> = Immutable<z.output<Schema>>;
