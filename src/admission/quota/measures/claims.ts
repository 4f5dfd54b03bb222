import type { PersistentVolumeClaim } from '../../../api/types/core/v1.ts';
import { parseQuantity, type Quantity } from '../../../object/quantity.ts';
import { storageClassOf } from '../../plugins/claim-class.ts';
import { CLAIMS } from '../../resources.ts';
import { countName, type Measure, ONE } from '../measure.ts';

const COUNT = countName(CLAIMS);
const CLAIM = 'persistentvolumeclaims';
const STORAGE = 'requests.storage';
const OF_CLASS = '.storageclass.storage.k8s.io/';
const WHOLE = 1_000_000_000n;

/** Claims and the storage they ask for, altogether and by storage class: `gold.storageclass.storage.k8s.io/requests.storage`. */
export const measureClaims: Measure<PersistentVolumeClaim> = {
  resource: CLAIMS,
  operations: ['CREATE', 'UPDATE'],
  mayHaveShrunk: () => true,
  counts: (name) =>
    name === COUNT || [CLAIM, STORAGE].some((own) => name === own || name.endsWith(`${OF_CLASS}${own}`)),
  usage: (claim) => {
    const usage = new Map<string, Quantity>([
      [CLAIM, ONE],
      [COUNT, ONE],
    ]);
    const storageClass = storageClassOf(claim);
    const storage = storageOf(claim);
    if (storage !== undefined) usage.set(STORAGE, storage);
    if (storageClass === '') return usage;
    usage.set(`${storageClass}${OF_CLASS}${CLAIM}`, ONE);
    if (storage !== undefined) usage.set(`${storageClass}${OF_CLASS}${STORAGE}`, storage);
    return usage;
  },
};

/** In whole bytes, because a quota's numbers are. */
function storageOf({ spec }: PersistentVolumeClaim): Quantity | undefined {
  const asked = spec?.resources?.requests?.storage;
  const quantity = asked === undefined ? undefined : parseQuantity(asked);
  if (quantity === undefined) return undefined;
  const { nanos, format } = quantity;
  return { nanos: nanos % WHOLE === 0n ? nanos : (nanos / WHOLE + 1n) * WHOLE, format };
}
