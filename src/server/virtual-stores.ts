import type { Minor } from '../api/emulation.ts';
import { ComponentStatuses } from '../diagnostics/component-statuses.ts';
import type { LargeWork } from '../history/large-work.ts';
import type { HistoryParts } from '../history/parts.ts';
import { probeHealth } from '../outbound/health-probe.ts';
import type { VirtualStores } from '../verbs/verb-call.ts';
import { createHistoryStores } from './history.ts';

/** The stores of all resources whose objects are computed for each request. */
export const createVirtualStores = (parts: HistoryParts, large: LargeWork, minor: Minor): VirtualStores =>
  new Map([
    ...createHistoryStores(parts, large),
    ['/componentstatuses', () => new ComponentStatuses(parts.store, probeHealth, minor)],
  ]);
