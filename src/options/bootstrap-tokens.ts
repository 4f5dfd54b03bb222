import { bool } from './flag.ts';

export const bootstrapTokenFlags = {
  bootstrapTokens: bool('enable-bootstrap-token-auth', {
    default: false,
    meaning: 'allow bootstrap-type secrets in the kube-system namespace for TLS bootstrapping',
  }),
};
