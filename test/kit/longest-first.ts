import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, which end last unless they begin first: what the others take is then done beside them. */
const LONGEST = [
  ...['e2e/kubectl-generators', 'faults/faults', 'e2e/large-answers', 'e2e/roles'],
  ...['e2e/console', 'storage/postgres/upgrade'],
  ...['e2e/serving/outages', 'storage/postgres/tail-on-standby'],
  ...['e2e/identity-providers', 'storage/postgres/patience', 'e2e/authentication', 'e2e/failing-services'],
].map((name) => `/test/${name}.test.ts`);

/** A process goes on to the next file as long as that is of the same project: those of servers come first, in one piece. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(name));
      if (at >= 0) return at;
      return project.name === 'systems' ? LONGEST.length : LONGEST.length + 1;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}
