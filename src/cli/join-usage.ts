/** How `atoll join` is called. */
export const joinUsage = `atoll join NAME [--labels region=eu,tier=prod]
      --hub-kubeconfig FILE [--hub-context NAME]   the hub, as somebody who may create Secrets and MemberClusters
      --kubeconfig FILE [--context NAME]           the member, as somebody who may create roles in it
      [--server URL]                               the member's address as Atoll reaches it, when it is another one
      [--namespace atoll-system]
      [--fence | --no-fence]                       a policy in the member that refuses a former owner's late writes`;
