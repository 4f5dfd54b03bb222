import type { Check, CheckedContainer } from '../check.ts';
import { named, namesOf, quoted, sorted } from '../wording.ts';

const mountOf = ({ context }: CheckedContainer): string => context.procMount ?? 'Default';

/** Runtimes hide parts of /proc from containers, and are to go on doing so. */
export const procMount: Check = {
  id: 'procMount',
  level: 'baseline',
  versions: [
    {
      since: 0,
      find: ({ containers, hasOwnUsers }) => {
        const bad = hasOwnUsers ? [] : containers.filter((container) => mountOf(container) !== 'Default');
        if (bad.length === 0) return undefined;
        const mounts = quoted(sorted(bad.map(mountOf)));
        const who = named('container', namesOf(bad));
        return { reason: 'procMount', detail: `${who} must not set securityContext.procMount to ${mounts}` };
      },
    },
  ],
};
