import type { Check, FindViolation, SharedContext } from '../check.ts';
import { named, settersOf, sorted } from '../wording.ts';

const TYPES_1_0: ReadonlySet<string> = new Set(['', 'container_t', 'container_init_t', 'container_kvm_t']);
const TYPES_1_31: ReadonlySet<string> = new Set([...TYPES_1_0, 'container_engine_t']);

interface Options {
  readonly type: string;
  readonly user: string;
  readonly role: string;
}

function optionsOf({ seLinuxOptions = {} }: SharedContext): Options {
  const { type = '', user = '', role = '' } = seLinuxOptions;
  return { type, user, role };
}

const findBeyond =
  (types: ReadonlySet<string>): FindViolation =>
  ({ context, containers }) => {
    const isBad = (options: Options): boolean =>
      !types.has(options.type) || options.user !== '' || options.role !== '';
    const own = optionsOf(context);
    const bad = containers.filter((container) => isBad(optionsOf(container.context)));
    const setters = settersOf(isBad(own), bad);
    if (setters === '') return undefined;
    const all = [own, ...bad.map((container) => optionsOf(container.context))];
    const badTypes = sorted(all.map(({ type }) => type).filter((type) => !types.has(type)));
    const what = [
      ...(badTypes.length === 0 ? [] : [named('type', badTypes)]),
      ...(all.some(({ user }) => user !== '') ? ['user may not be set'] : []),
      ...(all.some(({ role }) => role !== '') ? ['role may not be set'] : []),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`,
    };
  };

/** Types for containers only, and users and roles of nobody's choosing. */
export const seLinuxOptions: Check = {
  id: 'seLinuxOptions',
  level: 'baseline',
  versions: [
    { since: 0, find: findBeyond(TYPES_1_0) },
    { since: 31, find: findBeyond(TYPES_1_31) },
  ],
};
