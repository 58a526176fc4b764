import { lookup as resolve, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

import { GitError } from './git-error.ts';

/** Addresses that name the machine itself. */
const LOOPBACK = blockList([
  ['127.0.0.0', 8],
  ['0.0.0.0', 8],
  ['::', 127],
]);

/** Addresses no repository lives at: link-local (with the clouds' metadata services), their fixed others, multicast. */
const NEVER = blockList([
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['224.0.0.0', 3],
  ['fe80::', 10],
  ['fd00:ec2::', 32],
  ['ff00::', 8],
]);

/** How NAT64 writes an IPv4 address. */
const NAT64 = /^64:ff9b::(?:([\da-f]{1,4}):)?([\da-f]{1,4})$/i;

function blockList(networks: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of networks) list.addSubnet(network, prefix, family(network));
  return list;
}

function family(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** Whether Atoll may connect to an IP address. Private networks are fine: many a Git server lives there, behind TLS. */
export function isAllowedAddress(address: string, allowLoopback: boolean): boolean {
  const [, high = '0', low] = NAT64.exec(address) ?? [];
  const target = low === undefined ? address : dotted(Number.parseInt(high, 16), Number.parseInt(low, 16));
  if (isIP(target) === 0 || NEVER.check(target, family(target))) return false;
  return allowLoopback || !LOOPBACK.check(target, family(target));
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Refuses a host that is itself an address: no resolving happens then. @throws GitError `AddressRefused` */
export function checkLiteralHost(hostname: string, allowLoopback: boolean): void {
  const address = hostname.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0 && !isAllowedAddress(address, allowLoopback)) throw refused(hostname);
}

/** Resolves a host for one connection and hands on the allowed addresses only: nothing can change in between. */
export function guardedLookup(allowLoopback: boolean): LookupFunction {
  return (hostname: string, options: LookupOptions, callback) => {
    resolve(hostname, { ...options, all: true }, (error: Error | null, addresses: LookupAddress[]) => {
      if (error !== null) return callback(error, '');
      const allowed = addresses.filter(({ address }) => isAllowedAddress(address, allowLoopback));
      const [first] = allowed;
      if (first === undefined) return callback(refused(hostname), '');
      return options.all === true ? callback(null, allowed) : callback(null, first.address, first.family);
    });
  };
}

function refused(hostname: string): GitError {
  return new GitError('AddressRefused', `${hostname} is at a loopback, link-local or metadata address`);
}
