import type { StructuralSchema } from '../../src/api/index.ts';

/** The type of a field as a reader says it: "list of string", "map of quantity". */
export function typeOf(field: StructuralSchema): string {
  if (field['x-kubernetes-int-or-string']) return 'quantity';
  if (field.format === 'date-time') return 'time';
  if (field.items !== undefined) return `list of ${typeOf(field.items)}`;
  if (field.additionalProperties !== undefined) return `map of ${typeOf(field.additionalProperties)}`;
  return field.type ?? 'any';
}

/** What limits the values of a field, and the entries of a list or map. A text's form is in its description. */
export function constraintsOf(field: StructuralSchema, required: boolean): string {
  const limits = joined('; ', [required ? '**required**' : '', ...limitsOf(field)]);
  const entries = field.items ?? field.additionalProperties;
  const ofEntries = entries && joined('. ', [joined('; ', limitsOf(entries)), entries.description ?? '']);
  return joined('; ', [limits, ofEntries ? `each entry: ${ofEntries}` : '']);
}

function joined(separator: string, texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(separator);
}

function limitsOf(field: StructuralSchema): readonly string[] {
  return [
    field.enum === undefined ? '' : `one of ${field.enum.map((value) => `\`${String(value)}\``).join(', ')}`,
    bounds('', field.minimum, field.maximum),
    bounds(' characters', field.minLength, field.maxLength),
    bounds(' entries', field.minItems, field.maxItems ?? field.maxProperties),
    field['x-kubernetes-list-type'] === 'set' ? 'no entry twice' : '',
    field['x-kubernetes-list-type'] === 'map' ? `one entry for each ${keysOf(field)}` : '',
    ...(field['x-kubernetes-validations'] ?? []).map(({ message }) => message),
  ];
}

function keysOf(field: StructuralSchema): string {
  return (field['x-kubernetes-list-map-keys'] ?? []).map((key) => `\`${key}\``).join(' and ');
}

function bounds(unit: string, minimum: number | undefined, maximum: number | undefined): string {
  if (minimum === undefined && maximum === undefined) return '';
  if (minimum === undefined) return `at most ${maximum}${unit}`;
  return maximum === undefined ? `at least ${minimum}${unit}` : `${minimum} to ${maximum}${unit}`;
}
