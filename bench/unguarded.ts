/* What a connector and a client of ours may reach: this machine too. */
export const unguarded = {
  workspaceDir: undefined,
  readableDirs: [],
  allowPrivateNetworks: true,
  serviceEndpoints: [],
};
