import { z } from 'zod';

import type { ValidationRule } from './rule.ts';

/** Marks, in a schema's meta, a part whose defaults the hub shall not apply, because the members apply them. */
export const DEFAULTED_IN_MEMBER = 'x-atoll-defaulted-in-member';

/** Holds, in a schema's meta, the form of a text in words; the description gets it. */
export const FORM = 'x-atoll-form';

/** The part of OpenAPI v3 that Kubernetes calls structural, as far as Atoll's kinds use it. */
export interface StructuralSchema {
  description?: string;
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  nullable?: boolean;
  default?: unknown;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  properties?: Record<string, StructuralSchema>;
  required?: string[];
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: ValidationRule[];
}

/** What zod emits, before it is made structural. */
interface EmittedSchema extends Omit<StructuralSchema, 'properties' | 'additionalProperties' | 'items'> {
  properties?: Record<string, EmittedSchema>;
  additionalProperties?: EmittedSchema | boolean;
  items?: EmittedSchema;
  anyOf?: EmittedSchema[];
  [DEFAULTED_IN_MEMBER]?: boolean;
  [FORM]?: string;
}

// The order in which a reader wants them; everything that stands in a CRD is here, everything else is dropped.
const KEYWORDS = [
  'description',
  'type',
  'format',
  'nullable',
  'default',
  'enum',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
  'required',
] as const satisfies readonly (keyof StructuralSchema)[];

/**
 * The structural schema of a published object, as a CRD holds it.
 * @throws Error when the zod schema contains something that JSON Schema cannot say
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const emitted = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    unrepresentable: 'throw',
  }) as EmittedSchema;
  const { properties = {}, required, ...root } = toStructural(emitted, true);
  return { ...root, properties: { ...properties, ...ROOT_PROPERTIES }, ...(required && { required: ['spec'] }) };
}

// A CRD may not restrict these: the API server has its own schema for them.
const ROOT_PROPERTIES: Record<string, StructuralSchema> = {
  apiVersion: { description: 'Version of the schema that the object is written in.', type: 'string' },
  kind: { description: 'Kind of the object.', type: 'string' },
  metadata: { type: 'object' },
};

function toStructural(emitted: EmittedSchema, defaultsAbove: boolean): StructuralSchema {
  const withDefaults = defaultsAbove && emitted[DEFAULTED_IN_MEMBER] !== true;
  const told = {
    ...emitted,
    description: descriptionOf(emitted, withDefaults),
    default: withDefaults ? emitted.default : undefined,
    pattern: patternOf(emitted),
    minimum: emitted.minimum === Number.MIN_SAFE_INTEGER ? undefined : emitted.minimum,
    maximum: emitted.maximum === Number.MAX_SAFE_INTEGER ? undefined : emitted.maximum,
  };
  return {
    ...Object.fromEntries(
      KEYWORDS.filter((keyword) => told[keyword] !== undefined).map((keyword) => [keyword, told[keyword]]),
    ),
    ...nested(emitted, withDefaults),
  };
}

/** The description, with what `kubectl explain` does not show: the form of a text, and a default that the hub leaves out. */
function descriptionOf(emitted: EmittedSchema, withDefaults: boolean): string | undefined {
  const form = emitted[FORM];
  const silent = withDefaults || emitted.default === undefined || typeof emitted.default === 'object';
  const sentences = [
    emitted.description,
    form === undefined ? undefined : `Must be ${form}.`,
    silent ? undefined : `The member's default is ${JSON.stringify(emitted.default)}.`,
  ].filter((sentence) => sentence !== undefined);
  return sentences.length === 0 ? undefined : sentences.join(' ');
}

/** zod has a union where Kubernetes has int-or-string: the pattern of its text is what remains of it. */
function patternOf(emitted: EmittedSchema): string | undefined {
  // Times are checked by their format.
  if (emitted.format === 'date-time') return undefined;
  const pattern = emitted.pattern ?? emitted.anyOf?.find(({ type }) => type === 'string')?.pattern;
  return pattern?.replaceAll('\\/', '/');
}

function nested(emitted: EmittedSchema, withDefaults: boolean): StructuralSchema {
  const { properties = {}, items, additionalProperties } = emitted;
  const entries = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  if (entries !== undefined && Object.keys(entries).length === 0) {
    return { 'x-kubernetes-preserve-unknown-fields': true };
  }
  return {
    // An API server drops an empty map, and would never have what was sent.
    ...(Object.keys(properties).length > 0 && {
      properties: mapValues(properties, (property) => toStructural(property, withDefaults)),
    }),
    ...(entries && { additionalProperties: toStructural(entries, withDefaults) }),
    ...(items && { items: toStructural(items, withDefaults) }),
  };
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
