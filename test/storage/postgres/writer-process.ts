import { openLog, write } from './kit.ts';

/** A process that only writes, until it is killed: `<name> <revision>` on a line for each write that was acknowledged. */
const [url = ''] = process.argv.slice(2);
const { committer } = openLog(url);

async function writeForever(writer: number): Promise<never> {
  for (let n = 0; ; n += 1) {
    const name = `w${writer}-${n}`;
    const revision = await committer.commit(write('create', name));
    process.stdout.write(`${name} ${revision}\n`);
  }
}

await Promise.all(Array.from({ length: 20 }, (_, writer) => writeForever(writer)));
