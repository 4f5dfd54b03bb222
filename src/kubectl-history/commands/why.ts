import { noRevisions } from '../absence.ts';
import type { CommandArguments } from '../arguments.ts';
import type { HistoryClient } from '../history-client.ts';
import type { Explanation, ExplanationLink } from '../history-types.ts';
import { assertOf, lastChange, nameOf, type ObjectPlace, placeOf } from '../last-change.ts';
import { readObject } from '../named-object.ts';
import { isDocument, readFormat, toDocument } from '../output-format.ts';
import { revisionNumber } from '../scope.ts';
import type { Screen } from '../screen.ts';
import type { Command, Session } from '../session.ts';
import { toChanges } from '../shown-changes.ts';
import { toShown } from '../shown-text.ts';
import { numberOf, toAge, toLocalTime, toObject, toSentence, toVerb, toWriter } from '../write-texts.ts';

export const why: Command = {
  name: 'why',
  usage: 'TYPE/NAME',
  summary: 'what made a controller do it: the chain of changes back to who began it',
  notes: [
    'Without --revision it explains the last change of the object, other than of its status.',
    'Below the chain stands what else was written with the change that began it; -o wide shows all of it, and when.',
  ],
  takes: ['revision', 'output'],
  formats: ['json', 'yaml', 'name', 'wide'],
  examples: [
    ['why pod/web-7d4b9-x2x7k', 'why a pod is there, or is going'],
    ['why deploy/web --revision 4712', 'why this was changed'],
  ],
  fields: { name: '--revision' },
  run,
};

async function run(session: Session, args: CommandArguments): Promise<number> {
  const { screen, now } = session;
  const format = readFormat(why, args);
  const { cluster, resources, history } = await session.open();
  const given = revisionNumber(args);
  const isForNumber = given !== undefined && args.words.length === 0;
  const place = isForNumber
    ? undefined
    : placeOf(await readObject('why', args.words, resources), cluster.namespace);
  const number = given ?? (place === undefined ? '' : await lastNumber(history, place, now));
  const explanation = await history.why(number);
  if (place !== undefined) assertOf(explanation.links?.[0]?.object, number, place);
  if (isDocument(format)) await screen.write(toDocument(format, explanation, screen));
  else if (format === 'name') {
    await screen.write(
      (explanation.links ?? [])
        .map((link) => `revision.history.cluster.io/${toShown(link.revision ?? '')}\n`)
        .join(''),
    );
  } else {
    screen.usePager();
    const title = place === undefined ? `revision ${number}` : nameOf(place);
    await screen.write(toChain(explanation, { title, screen, now, isWide: format === 'wide' }));
  }
  return 0;
}

/** Lines for changes of a link and for siblings, unless all are requested. */
const USUAL_LINES = 6;

async function lastNumber(history: HistoryClient, place: ObjectPlace, now: Date): Promise<string> {
  const last = await lastChange(history, place);
  if (last === undefined) throw await noRevisions(history, place, now);
  return numberOf(last);
}

interface ChainOptions {
  readonly title: string;
  readonly screen: Screen;
  readonly now: Date;
  readonly isWide: boolean;
}

function toChain(explanation: Explanation, { title, screen, now, isWide }: ChainOptions): string {
  const links = explanation.links ?? [];
  const { paint } = screen;
  const most = isWide ? Number.POSITIVE_INFINITY : USUAL_LINES;
  const blocks = links.map((link) => {
    const layout = { paint, indent: 6, width: screen.columns, most };
    return `${toEvidence(link, screen)}${toHead(link, screen, now)}${toChanges(link, layout)}`;
  });
  const unknown = explanation.unknown
    ? `\n${paint('dim', toShown(`It goes no further back: ${explanation.unknown}`))}\n`
    : '';
  const besides = toSiblings(explanation.siblings ?? [], { screen, now, isWide, most });
  return `${toAnswer(explanation, { title, paint, now })}\n${blocks.join('')}${unknown}${besides}`;
}

/** The answer in a sentence; the evidence follows. */
function toAnswer(
  { links, unknown }: Explanation,
  { title, paint, now }: Pick<ChainOptions, 'title' | 'now'> & Pick<Screen, 'paint'>,
): string {
  const root = links?.at(-1);
  const what = paint('bold', toShown(title));
  if (root === undefined) return `${what}: nothing is known.\n`;
  if (links?.length === 1) {
    return unknown
      ? `${what}: no cause is known.\n`
      : `${what}: ${toWriter(root, paint)} did it, ${toAge(root.at, now)} ago.\n`;
  }
  const certainty = unknown ? 'as far as it is known, ' : '';
  return `${what}: ${certainty}because ${toSentence(root, paint)}, ${toAge(root.at, now)} ago.\n`;
}

function toHead(link: ExplanationLink, { paint }: Screen, now: Date): string {
  const number = paint('yellow', toShown(link.revision ?? '?'));
  const when = `${toLocalTime(link.at)} ${paint('dim', `(${toAge(link.at, now)} ago)`)}`;
  return `  ${number}  ${when}  ${toObject(link, paint)} ${toVerb(link)}\n      by ${toWriter(link, paint)}\n`;
}

const SURE = new Map([
  ['certain', 'green'],
  ['likely', 'yellow'],
  ['possible', 'magenta'],
] as const);

const styleOf = (confidence: string): 'green' | 'yellow' | 'magenta' | 'dim' =>
  [...SURE].find(([name]) => name === confidence)?.[1] ?? 'dim';

/** Why the lower link caused the upper one. */
function toEvidence({ confidence, evidence }: ExplanationLink, { paint }: Screen): string {
  if (!confidence && (evidence ?? []).length === 0) return '';
  const [first = '', ...others] = (evidence ?? []).map(toShown);
  const sure = confidence ? paint(styleOf(confidence), toShown(confidence)) : 'because';
  const more = others.map((text) => `      ${paint('dim', text)}\n`).join('');
  return `   ${paint('dim', '↑')}  ${sure}${first === '' ? '' : `: ${paint('dim', first)}`}\n${more}`;
}

interface SiblingsOptions extends Omit<ChainOptions, 'title'> {
  readonly most: number;
}

/** Other writes of the act that began it: not part of the chain, and so below it. */
function toSiblings(
  siblings: readonly ExplanationLink[],
  { screen, now, isWide, most }: SiblingsOptions,
): string {
  if (siblings.length === 0) return '';
  const { paint } = screen;
  const byEvidence = group(siblings.slice(0, most), screen);
  const groups = [...byEvidence].map(([evidence, members]) => {
    const lines = members.map((sibling) => {
      const { revision = '?', at } = sibling;
      const when = isWide ? `${toLocalTime(at)} ${paint('dim', `(${toAge(at, now)} ago)`)}  ` : '';
      const by = isWide ? ` by ${toWriter(sibling, paint)}` : '';
      return `    ${paint('yellow', toShown(revision))}  ${when}${toObject(sibling, paint)} ${toVerb(sibling)}${by}\n`;
    });
    return `  ${evidence}\n${lines.join('')}`;
  });
  const left = siblings.length - most;
  const more = left > 0 ? `${paint('dim', `  … ${left} more: -o wide shows them`)}\n` : '';
  return `\nWhat else was written with it:\n${groups.join('')}${more}`;
}

function toEvidenceLine({ confidence, evidence }: ExplanationLink, { paint }: Screen): string {
  const sure = confidence ? paint(styleOf(confidence), toShown(confidence)) : 'perhaps';
  const [first = ''] = (evidence ?? []).map(toShown);
  return first === '' ? sure : `${sure}: ${paint('dim', first)}`;
}

/** Groups siblings by their evidence, in order of arrival. */
const group = (siblings: readonly ExplanationLink[], screen: Screen): Map<string, ExplanationLink[]> =>
  Map.groupBy(siblings, (sibling) => toEvidenceLine(sibling, screen));
