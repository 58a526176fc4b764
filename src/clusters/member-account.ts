/** Atoll's own service account in a member. */
export interface MemberAccount {
  readonly namespace: string;
  readonly name: string;
}

/** The account that joining makes, by Atoll's namespace: it is the same on the hub and in the members. */
export function accountIn(namespace: string): MemberAccount {
  return { namespace, name: 'atoll' };
}
