import type { Verdict } from './run.ts';

const SHOWN = 3;

/** The verdict, and of each broken promise the first few facts: the rest mostly follows from them. */
export function report({ findings, summary }: Verdict, say: (line: string) => void): void {
  say(summary);
  if (findings.length === 0) say('every promise was kept');
  for (const [rule, those] of Map.groupBy(findings, (finding) => finding.rule)) {
    say(`BROKEN: ${rule} (${those.length} times)`);
    for (const { facts } of those.slice(0, SHOWN)) say(`    ${facts}`);
  }
}
