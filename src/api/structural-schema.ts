import { z } from 'zod';

import type { ValidationRule } from './rule.ts';

/** Marks, in a schema's meta, a part whose defaults the hub shall not apply, because the members apply them. */
export const DEFAULTED_IN_MEMBER = 'x-atoll-defaulted-in-member';

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
  const plain = withoutSafeIntegerBounds(withDefaults ? emitted : defaultToldOnly(emitted));
  const structural: StructuralSchema = Object.fromEntries(
    KEYWORDS.filter((keyword) => plain[keyword] !== undefined).map((keyword) => [keyword, plain[keyword]]),
  );
  return {
    ...structural,
    ...stringForm(plain),
    ...nested(plain, withDefaults),
  };
}

/** zod describes a union where Kubernetes has its extension: the pattern of the string form is what remains of it. */
function stringForm(emitted: EmittedSchema): StructuralSchema {
  const pattern = emitted.pattern ?? emitted.anyOf?.find(({ type }) => type === 'string')?.pattern;
  // Times are checked by their format; zod's pattern for them is not RE2.
  return pattern === undefined || emitted.format === 'date-time' ? {} : { pattern: pattern.replaceAll('\\/', '/') };
}

function nested(emitted: EmittedSchema, withDefaults: boolean): StructuralSchema {
  const { properties, items, additionalProperties } = emitted;
  const loose = typeof additionalProperties === 'object' && Object.keys(additionalProperties).length === 0;
  if (loose) return { 'x-kubernetes-preserve-unknown-fields': true };
  return {
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, property]) => [name, toStructural(property, withDefaults)]),
      ),
    }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: toStructural(additionalProperties, withDefaults),
    }),
    ...(items && { items: toStructural(items, withDefaults) }),
  };
}

/** Says in words what the default would be, for `kubectl explain`. */
function defaultToldOnly(emitted: EmittedSchema): EmittedSchema {
  const { default: value, ...rest } = emitted;
  if (value === undefined || typeof value === 'object') return rest;
  return { ...rest, description: `${emitted.description ?? ''} Defaults to ${JSON.stringify(value)} in the member.` };
}

function withoutSafeIntegerBounds(emitted: EmittedSchema): EmittedSchema {
  const { minimum, maximum, ...rest } = emitted;
  return {
    ...rest,
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
  };
}
