import { inTime } from '../../util/in-time.ts';
import { StorageError } from '../errors.ts';

/** How long reads wait while the state is loaded afresh. */
const LOADED_TIMEOUT_MS = 20_000;

/** @throws StorageError unavailable when that takes too long */
export function loadedInTime(loaded: Promise<void>): Promise<void> {
  return inTime(loaded, LOADED_TIMEOUT_MS, () => {
    throw new StorageError({ kind: 'unavailable', reason: 'the state of the cluster is being read' });
  });
}
