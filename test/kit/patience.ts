/** For vi.waitFor: long enough that only what will never be so takes longer, also on a machine that does much else. */
export const PATIENCE = { timeout: 60_000 };
