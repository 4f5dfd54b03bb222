import { StorageError } from '../errors.ts';

/** How long reads wait while the state is loaded afresh. */
const LOADED_TIMEOUT_MS = 20_000;

/** @throws StorageError unavailable when that takes too long */
export async function loadedInTime(loaded: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const failure = { kind: 'unavailable', reason: 'the state of the cluster is being read' } as const;
    timer = setTimeout(() => reject(new StorageError(failure)), LOADED_TIMEOUT_MS);
  });
  await Promise.race([loaded, late]).finally(() => clearTimeout(timer));
}
