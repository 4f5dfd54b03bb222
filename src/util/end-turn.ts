/** Resolves when the event loop has been around: what waits for its turn, and for the network, has had it. */
export const endTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
