import { controllerOf, isController } from './authors.ts';
import type { Confidence, Past, PastWrite } from './past.ts';
import { ruleOfAll } from './rules/all-causes.ts';

export interface Link {
  readonly write: PastWrite;
  /** Why it caused the one before it in the list. Empty for the explained write. */
  readonly evidence: readonly string[];
  readonly confidence?: Confidence;
}

export interface Explained {
  /** From the explained write back to the one it began with. */
  readonly links: readonly Link[];
  /** Why it goes no further, in words. Undefined where the last one is the own act of a person or a client. */
  readonly unknown?: string;
}

interface Explaining {
  /** Returns the bounded history that one step may read. */
  past(): Past;
  mayRead(write: PastWrite): Promise<boolean>;
}

/** Longer chains would help no reader. */
const MOST_LINKS = 20;

/**
 * Follows a write back to what it began with. Each step leads to an older revision, so that none is taken twice. It shows no object
 * that the caller may not read, and nothing that lies behind it.
 */
export async function explain(write: PastWrite, { past, mayRead }: Explaining): Promise<Explained> {
  const links: Link[] = [{ write, evidence: [] }];
  for (let effect = write; isController(effect); ) {
    if (links.length === MOST_LINKS)
      return { links, unknown: `It goes further back than ${MOST_LINKS} revisions; ask why of the last.` };
    const finding = await ruleOfAll(effect, past());
    if (finding === undefined) return { links, unknown: nothingFound(effect) };
    if (finding.kind === 'unknown') return { links, unknown: finding.why };
    if (finding.write.revision >= effect.revision)
      throw new Error(`revision ${effect.revision} cannot answer ${finding.write.revision}`);
    if (!(await mayRead(finding.write)))
      return { links, unknown: 'It answers a change of an object that you may not read.' };
    links.push(finding);
    effect = finding.write;
  }
  return { links };
}

const nothingFound = (effect: PastWrite): string =>
  `Nothing in the history that is kept tells what ${controllerOf(effect)} (${effect.user}) answered; it may have acted of its own.`;
