import type { Minor } from '../api/emulation.ts';
import { toQualifiedResource } from '../api/names.ts';
import { type Cell, Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { LogFollower } from '../storage/log-progress.ts';
import type { Change } from '../storage/revision-log.ts';

/** Counts the changes that come from the database, under Kubernetes' name (apiserver, storage/etcd3/metrics). */
export class ReceivedEvents implements LogFollower {
  readonly #numbers: Numbers;
  readonly #hasGroups: boolean;
  readonly #known = new Map<string, Map<string, Cell>>();

  constructor({ metrics, emulated }: { readonly metrics: Metrics; readonly emulated: Minor }) {
    this.#hasGroups = emulated >= 34;
    this.#numbers = metrics.add(
      new Numbers('counter', {
        name: 'apiserver_storage_events_received_total',
        help: 'Changes received from the database, by resource.',
        labels: this.#hasGroups ? ['group', 'resource'] : ['resource'],
      }),
    );
  }

  applied(changes: readonly Change[]): void {
    for (const { key } of changes) this.#cellOf(key.group, key.resource).add();
  }

  ended(): void {}

  loaded(): void {}

  #cellOf(group: string, resource: string): Cell {
    let ofGroup = this.#known.get(group);
    if (ofGroup === undefined) {
      ofGroup = new Map();
      this.#known.set(group, ofGroup);
    }
    let cell = ofGroup.get(resource);
    if (cell === undefined) {
      cell = this.#numbers.at(
        ...(this.#hasGroups ? [group, resource] : [toQualifiedResource({ group, resource })]),
      );
      ofGroup.set(resource, cell);
    }
    return cell;
  }
}
