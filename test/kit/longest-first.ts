import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, which end last unless they begin first: what the others take is then done beside them. */
const LONGEST = [
  ...['e2e/kubectl-generators', 'faults/faults', 'e2e/large-answers', 'e2e/roles'],
  ...['e2e/console', 'storage/postgres/upgrade'],
  ...['e2e/serving/outages', 'storage/postgres/tail-on-standby'],
  ...['e2e/identity-providers', 'storage/postgres/patience', 'e2e/authentication', 'e2e/failing-services'],
].map((name) => `/test/${name}.test.ts`);

/** These wait for time limits of the server most of the time: beside each other they would leave the cores idle. */
const WAITING = [
  ...['audit-backends', 'database-away', 'leftovers/leftovers', 'signing-keys', 'time-limits', 'upkeep'].map(
    (name) => `e2e/${name}`,
  ),
  ...['endpoints', 'health', 'hostile', 'shutdown', 'waiting'].map((name) => `e2e/serving/${name}`),
  'e2e/protocol/versions',
  ...['epochs', 'outages', 'partitions', 'shutdown', 'stalled-commits', 'visible-changes'].map(
    (name) => `storage/postgres/${name}`,
  ),
].map((name) => `/test/${name}.test.ts`);

/** A process goes on to the next file as long as that is of the same project: those of servers come first, in one piece. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const longest: TestSpecification[] = [];
    const waiting: TestSpecification[] = [];
    const working: TestSpecification[] = [];
    const others: TestSpecification[] = [];
    for (const file of await super.sort(files)) {
      if (placeOf(LONGEST, file) >= 0) longest.push(file);
      else if (file.project.name !== 'systems') others.push(file);
      else if (placeOf(WAITING, file) >= 0) waiting.push(file);
      else working.push(file);
    }
    longest.sort((one, other) => placeOf(LONGEST, one) - placeOf(LONGEST, other));
    return [...longest, ...spread(waiting, working), ...others];
  }
}

const placeOf = (names: readonly string[], { moduleId }: TestSpecification): number =>
  names.findIndex((name) => moduleId.endsWith(name));

/** All of both, each at equal distances. */
function spread<Item>(...groups: readonly (readonly Item[])[]): Item[] {
  return groups
    .flatMap((items) => items.map((item, at) => ({ item, place: (at + 1) / (items.length + 1) })))
    .sort((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
