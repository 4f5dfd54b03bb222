import { bool, type FlagSet } from '../../options/flag.ts';
import { sourceFlags } from './open-source.ts';

/** What import alone takes. */
export const importOnlyFlags = {
  dryRun: bool('dry-run', { meaning: 'report what would be written, and write nothing' }),
  follow: bool('follow', { meaning: 'follow the source by watches until a signal' }),
  untilSynced: bool('until-synced', { meaning: 'follow until the source has been quiet for three seconds' }),
  replace: bool('replace', { meaning: 'replace objects of the target that have the name and another uid' }),
  prune: bool('prune', { meaning: 'remove objects that only the target has, as verify names them' }),
} satisfies FlagSet;

export const importFlags = { ...sourceFlags, ...importOnlyFlags } satisfies FlagSet;
