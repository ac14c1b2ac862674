/** The views, in the order of the navigation. Each comes in a file of its own when it is first looked at. */
import type { Component } from 'svelte';
import { later } from './lib/loading/later';
import type { IconName } from './ui/Icon.svelte';
import type { ViewProps } from './views/view-props';

interface View {
  id: string;
  title: string;
  icon: IconName;
  /** Whether it can be looked at without being logged in. */
  isOpen: boolean;
  /** Without what there is nothing to look at: a timeline that the user may read, or its clock and events too. */
  needs: 'nothing' | 'timeline' | 'clock';
  /** Whether it is in the navigation; the others are reached from where they belong. */
  isListed: boolean;
  /** Fetches its files, also in a quiet moment: so that it opens when the service is away, too. */
  load: () => Promise<{ default: Component<ViewProps> }>;
}

export const views: readonly [View, ...View[]] = [
  {
    id: 'clock',
    title: 'Clock',
    icon: 'clock',
    isOpen: false,
    needs: 'clock',
    isListed: true,
    load: later(() => import('./views/clock/ClockView.svelte')),
  },
  {
    id: 'timeline',
    title: 'Timeline',
    icon: 'timeline',
    isOpen: false,
    needs: 'clock',
    isListed: true,
    load: later(() => import('./views/timeline/TimelineView.svelte')),
  },
  {
    id: 'timers',
    title: 'Timers',
    icon: 'bell',
    isOpen: false,
    needs: 'clock',
    isListed: true,
    load: later(() => import('./views/timers/TimersView.svelte')),
  },
  {
    id: 'compare',
    title: 'Compare',
    icon: 'fork',
    isOpen: false,
    needs: 'timeline',
    isListed: false,
    load: later(() => import('./views/compare/CompareView.svelte')),
  },
  {
    id: 'timelines',
    title: 'Timelines',
    icon: 'timeline',
    isOpen: false,
    needs: 'nothing',
    isListed: false,
    load: later(() => import('./views/timelines/TimelinesView.svelte')),
  },
  {
    id: 'paradoxes',
    title: 'Paradoxes',
    icon: 'paradox',
    isOpen: false,
    needs: 'clock',
    isListed: true,
    load: later(() => import('./views/paradoxes/ParadoxesView.svelte')),
  },
  {
    id: 'integrity',
    title: 'Integrity',
    icon: 'shield',
    isOpen: false,
    needs: 'timeline',
    isListed: true,
    load: later(() => import('./views/integrity/IntegrityView.svelte')),
  },
  {
    id: 'access',
    title: 'Access',
    icon: 'people',
    isOpen: false,
    needs: 'nothing',
    isListed: true,
    load: later(() => import('./views/access/AccessView.svelte')),
  },
  {
    id: 'explorer',
    title: 'Explorer',
    icon: 'explorer',
    isOpen: true,
    needs: 'nothing',
    isListed: true,
    load: later(() => import('./views/explorer/ExplorerView.svelte')),
  },
];
