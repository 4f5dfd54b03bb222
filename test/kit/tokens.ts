import type { TokenIssuing } from '../../src/registry/token-issuing.ts';

/** For actions that make no tokens. */
export const NO_TOKENS: TokenIssuing = {
  apiAudiences: [],
  maxExpirationSeconds: 0,
  extendsExpiration: false,
  maxExtendedSeconds: 365 * 24 * 3600,
  bindsNodes: false,
  checksUids: false,
  tellsNodes: false,
  sign: () => Promise.reject(new Error('no tokens are made here')),
};
