import type { Figures, Stage } from '../bench.ts';
import { RowWriter, slices } from '../limit/rows.ts';
import { configMapOf } from './config-maps.ts';
import { UpkeepDatabase } from './upkeep-database.ts';

const LOAD_BATCH = 100;
const BATCH = 10;
const STRIDE = 7919;

/** What a thousand writes of one size cost the database, each replacing an object that has its bytes, and their filling later. */
export async function writes(stage: Stage, kB: number): Promise<Figures> {
  const { objects = stage.scale(kB > 10 ? 10_000 : 100_000, kB > 10 ? 500 : 2000) } = stage.settings;
  const replaced = objects / 2;
  await using database = await UpkeepDatabase.start();
  await using writer = await RowWriter.connect(database.url, configMapOf(kB * 1000));
  for (const slice of slices(0, objects, LOAD_BATCH)) await writer.write('create', slice);
  const filling = await database.spend(() => database.fill({ all: true }));
  await database.query('VACUUM (ANALYZE) objects');
  const size = {
    'heap pages an object': (await database.number("SELECT pg_relation_size('objects') / 8192")) / objects,
    'pages an object out of line':
      (await database.number(
        "SELECT pg_relation_size(reltoastrelid) / 8192 FROM pg_class WHERE oid = 'objects'::regclass",
      )) / objects,
  };
  const load = await database.spend(() => database.query(LOAD).then(() => {}));
  const replacing = await database.spend(async () => {
    for (const slice of slices(0, replaced, BATCH))
      await writer.write(
        'update',
        slice.map((n) => (n * STRIDE) % objects),
      );
  });
  const refilling = await database.spend(() => database.fill({ all: true }));
  return {
    unit: 'writes',
    count: replaced,
    databaseCpuPer1000: replacing.cpuSeconds / (replaced / 1000),
    facts: {
      'WAL kB/1k': replacing.walBytes / replaced,
      'filling CPU s/1k, first': filling.cpuSeconds / (objects / 1000),
      'and WAL kB/1k': filling.walBytes / objects,
      'filling CPU s/1k, again': refilling.cpuSeconds / (replaced / 1000),
      'WAL kB/1k again': refilling.walBytes / replaced,
      'reading all, CPU s/1k': load.cpuSeconds / (objects / 1000),
      ...size,
      objects,
    },
  };
}

const LOAD = `
  COPY (
    SELECT api_group, resource, namespace, name, uid, revision, object, encoded, media_type
    FROM objects
    ORDER BY api_group, resource, namespace, name
  ) TO '/dev/null' (FORMAT binary)`;
