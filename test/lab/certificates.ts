import 'reflect-metadata';
import { randomBytes, type webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { systemClock } from '../../src/kernel/index.ts';

/** A certificate and its private key, both as PEM text. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const day = 24 * 60 * 60 * 1000;

/** A certificate authority that lives as long as the lab. */
export class CertificateAuthority {
  readonly certificate: string;
  readonly #name: string;
  readonly #keys: webcrypto.CryptoKeyPair;

  private constructor(name: string, keys: webcrypto.CryptoKeyPair, certificate: string) {
    this.#name = name;
    this.#keys = keys;
    this.certificate = certificate;
  }

  static async create(name: string): Promise<CertificateAuthority> {
    const keys = await generateKeys();
    const certificate = await X509CertificateGenerator.createSelfSigned({
      ...validity(),
      serialNumber: serialNumber(),
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new CertificateAuthority(name, keys, certificate.toString('pem'));
  }

  /** A server certificate for these host names and IP addresses. */
  async server(hosts: { readonly names: readonly string[]; readonly addresses: readonly string[] }): Promise<KeyPair> {
    return this.#issue(
      [{ CN: [hosts.names[0] ?? 'localhost'] }],
      [
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
        new SubjectAlternativeNameExtension([
          ...hosts.names.map((value) => ({ type: 'dns' as const, value })),
          ...hosts.addresses.map((value) => ({ type: 'ip' as const, value })),
        ]),
      ],
    );
  }

  /** A client certificate: Kubernetes reads the user from the common name and the groups from the organizations. */
  async client(user: string, groups: readonly string[] = []): Promise<KeyPair> {
    return this.#issue(
      [...groups.map((group) => ({ O: [group] })), { CN: [user] }],
      [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])],
    );
  }

  async #issue(subject: Record<string, string[]>[], extensions: Extension[]): Promise<KeyPair> {
    const keys = await generateKeys();
    const certificate = await X509CertificateGenerator.create({
      ...validity(),
      serialNumber: serialNumber(),
      subject,
      issuer: `CN=${this.#name}`,
      publicKey: keys.publicKey,
      signingKey: this.#keys.privateKey,
      signingAlgorithm: algorithm,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        await AuthorityKeyIdentifierExtension.create(this.#keys.publicKey),
        ...extensions,
      ],
    });
    return { certificate: certificate.toString('pem'), key: await privateKeyPem(keys) };
  }
}

/** A key pair for signing service account tokens. */
export async function signingKeys(): Promise<{ readonly privateKey: string; readonly publicKey: string }> {
  const keys = await generateKeys();
  const publicKey = PemConverter.encode(await crypto.subtle.exportKey('spki', keys.publicKey), 'PUBLIC KEY');
  return { privateKey: await privateKeyPem(keys), publicKey };
}

async function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

async function privateKeyPem(keys: webcrypto.CryptoKeyPair): Promise<string> {
  return PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
}

function validity(): { notBefore: Date; notAfter: Date } {
  const now = systemClock.now();
  return { notBefore: new Date(now - day), notAfter: new Date(now + 30 * day) };
}

/** Positive and never zero-led, as RFC 5280 wants it. */
function serialNumber(): string {
  return `01${randomBytes(15).toString('hex')}`;
}
