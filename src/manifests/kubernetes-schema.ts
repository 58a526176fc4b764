import {
  defineScalarTag,
  mapTag,
  mergeTag,
  NOT_RESOLVED,
  nullYaml11Tag,
  boolYaml11Tag,
  Schema,
  seqTag,
  strTag,
  type MappingTagDefinition,
} from 'js-yaml';

const TAG = 'tag:yaml.org,2002:';
const LARGEST_INT64 = 2n ** 63n - 1n;
const SMALLEST_INT64 = -(2n ** 63n);
const LARGEST_UINT64 = 2n ** 64n - 1n;

/** Go's integer literals; a leading 0 alone means octal. */
const INTEGER = /^([-+]?)(0[xX][\da-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9]\d*)$/;
const FLOAT = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const DIGITS = Array.from('0123456789');
const BASE64 = /^[A-Za-z\d+/]*={0,2}$/;

type Resolved<Value> = Value | typeof NOT_RESOLVED;

/** Integers as Go reads them, exactly: bigint beyond 2^53, and a float beyond what an API server takes for an integer. */
function resolveInteger(source: string): Resolved<number | bigint> {
  const plain = source.replaceAll('_', '');
  const [, sign, digits] = INTEGER.exec(plain) ?? [];
  if (digits === undefined) return NOT_RESOLVED;
  const magnitude = BigInt(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits.toLowerCase());
  const value = sign === '-' ? -magnitude : magnitude;
  if (value > LARGEST_UINT64 || value < SMALLEST_INT64) return NOT_RESOLVED;
  const number = Number(value);
  return Number.isSafeInteger(number) || value > LARGEST_INT64 ? number : value;
}

function resolveFloat(source: string, isExplicit: boolean): Resolved<number | bigint> {
  if (isExplicit) {
    const integer = resolveInteger(source);
    if (integer !== NOT_RESOLVED) return Number(integer);
  }
  // Underscores count in what begins with a digit or a sign only.
  const plain = source.startsWith('.') ? source : source.replaceAll('_', '');
  const value = FLOAT.test(plain) ? Number(plain) : Number.NaN;
  // What overflows is text to Go. -0 is written as 0.
  return Number.isFinite(value) ? value + 0 : NOT_RESOLVED;
}

/** Whether a plain text is a number that is not written as an integer. */
export function isFloat(source: string): boolean {
  return resolveInteger(source) === NOT_RESOLVED && resolveFloat(source, false) !== NOT_RESOLVED;
}

function resolveBinary(source: string): Resolved<string> {
  const input = source.replaceAll(/\s/g, '');
  if (input.length % 4 !== 0 || !BASE64.test(input)) return NOT_RESOLVED;
  return Buffer.from(input, 'base64').toString('utf8');
}

const never = (): boolean => false;
const integerTag = defineScalarTag<number | bigint>(`${TAG}int`, {
  implicit: true,
  implicitFirstChars: ['-', '+', ...DIGITS],
  resolve: resolveInteger,
  identify: never,
});
const floatTag = defineScalarTag<number | bigint>(`${TAG}float`, {
  implicit: true,
  implicitFirstChars: ['-', '+', '.', ...DIGITS],
  resolve: resolveFloat,
  identify: never,
});
const binaryTag = defineScalarTag<string>(`${TAG}binary`, { resolve: resolveBinary, identify: never });
/** Any other tag is ignored, and says nothing but that the value is text. */
const otherScalarTag = defineScalarTag<string>('', {
  matchByTagPrefix: true,
  resolve: (source) => source,
  identify: never,
});

/** JSON's objects: keys are text, made of numbers and booleans where need be. */
const objectTag: MappingTagDefinition<Record<string, unknown>, Record<string, unknown>> = {
  ...mapTag,
  addPair: (carrier, key, value) => (key === null ? 'a key must not be null' : mapTag.addPair(carrier, key, value)),
};

/**
 * YAML as kubectl reads it, which is go-yaml v2: YAML 1.1's booleans and octals, exact integers, dates as text, tags that
 * mean nothing, merge keys. `kubectl-decoder.json` beside the tests holds what kubectl itself makes of each case.
 */
export const kubernetesSchema = new Schema([
  strTag,
  seqTag,
  objectTag,
  nullYaml11Tag,
  boolYaml11Tag,
  integerTag,
  floatTag,
  mergeTag,
  binaryTag,
  otherScalarTag,
  { ...seqTag, tagName: '', matchByTagPrefix: true },
  { ...objectTag, tagName: '', matchByTagPrefix: true },
]);
