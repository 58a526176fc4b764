import { canonicalJson } from './canonical-json.ts';

/**
 * Whether an API server may print a value that it was sent as another one: quantities and times have a normal form
 * (`1000m` is `1`, `+00:00` is `Z`), and what is empty is not printed at all.
 */
export function isSameValue(sent: unknown, live: unknown): boolean {
  if (isEmpty(sent) && isEmpty(live)) return true;
  if (canonicalJson(sent) === canonicalJson(live)) return true;
  if (isContainer(sent) && isContainer(live)) return haveSameParts(sent, live);
  return isSameQuantity(sent, live) || isSameTime(sent, live);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  return isContainer(value) && Object.keys(value).length === 0;
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** What a server fills in beside what it was sent is not ours to compare; in a list every item counts. */
function haveSameParts(sent: Readonly<Record<string, unknown>>, live: Readonly<Record<string, unknown>>): boolean {
  if (Array.isArray(sent) !== Array.isArray(live)) return false;
  if (Array.isArray(sent) && Array.isArray(live) && sent.length !== live.length) return false;
  return Object.entries(sent).every(([name, value]) => isSameValue(value, live[name]));
}

const QUANTITY = /^([+-]?\d+(?:\.\d+)?)(?:[eE]([+-]?\d+)|(m|u|n|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei))?$/;
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** Two texts that both read as quantities of one amount. Both are Kubernetes' notation, in which `1` is a number too. */
function isSameQuantity(a: unknown, b: unknown): boolean {
  const [x, y] = [amountOf(a), amountOf(b)];
  return x !== undefined && y !== undefined && x === y;
}

/** In billionths, exactly: the smallest unit that Kubernetes knows is n. */
function amountOf(value: unknown): bigint | undefined {
  if (!['string', 'number', 'bigint'].includes(typeof value)) return undefined;
  const [, digits = '', exponent, suffix = ''] = QUANTITY.exec(String(value)) ?? [];
  if (digits === '') return undefined;
  const [whole = '0', fraction = ''] = digits.split('.');
  const power = 9 - fraction.length + (exponent === undefined ? (DECIMAL[suffix] ?? 0) : Number(exponent));
  return timesPowerOfTen(BigInt(whole + fraction) * 1024n ** BigInt(BINARY.indexOf(suffix) + 1), power);
}

/** @returns undefined when the result is no integer, or the power is one that no quantity has */
function timesPowerOfTen(value: bigint, power: number): bigint | undefined {
  if (Math.abs(power) > 100) return undefined;
  const factor = 10n ** BigInt(Math.abs(power));
  if (power >= 0) return value * factor;
  return value % factor === 0n ? value / factor : undefined;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function isSameTime(a: unknown, b: unknown): boolean {
  if (typeof a !== 'string' || typeof b !== 'string' || !TIME.test(a) || !TIME.test(b)) return false;
  return Date.parse(a) === Date.parse(b);
}
