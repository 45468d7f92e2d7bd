import { PublishedProject } from '@flotilla/contracts/calls/published-views';
import { Project } from '@flotilla/contracts/project';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRouterFixture, type RouterFixture } from './router.fixture.ts';

let fixture: RouterFixture;
beforeAll(async () => {
  fixture = await createRouterFixture();
});
afterAll(() => fixture.close());

const shop = Project.parse({ name: 'shop', remote: 'https://git.example.com/shop.git', checks: ['npm test'] });

test('adding the same project again changes nothing, and another of its name is refused', async () => {
  const answers = await Promise.all([1, 2, 3].map(() => fixture.projects.add(shop, false)));
  expect(answers.filter(({ created }) => created)).toHaveLength(1);
  await expect(fixture.projects.add({ ...shop, checks: [] }, false)).rejects.toMatchObject({ code: 'PROJECT_EXISTS' });
});

test('a project is replaced when that is asked for, and the view shows it', async () => {
  await fixture.projects.add({ ...shop, checks: ['make check'] }, true);
  expect(await fixture.readView(PublishedProject, 'project', 'name = $1', ['shop'])).toMatchObject([
    { definition: { checks: ['make check'] } },
  ]);
});
