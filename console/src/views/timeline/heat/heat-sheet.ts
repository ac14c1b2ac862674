/** A heat layer that was drawn for one view of the map, and its placement in another view. */
import { outline } from '../map/map';
import { unit, type MapView, type Size } from '../map/map-view';

export interface HeatSheet {
  picture: HTMLCanvasElement;
  view: MapView;
  size: Size;
  isSmooth: boolean;
  /** Describes the value at a place; null if there is none. */
  describe: (lat: number, lon: number) => { title: string; text: string } | null;
}

/** Draws the layer at its place in the current view. Until it is redrawn, the old picture moves with the map. */
export function placeHeat(context: CanvasRenderingContext2D, sheet: HeatSheet, view: MapView, size: Size): void {
  const [before, now] = [unit(sheet.size, sheet.view.zoom), unit(size, view.zoom)];
  const { width, height } = sheet.size;
  context.save();
  // Clip at the edge of the world, beyond which the opposite side would appear.
  context.clip(outline(view, size));
  context.imageSmoothingEnabled = sheet.isSmooth;
  context.drawImage(
    sheet.picture,
    (sheet.view.x - width / 2 / before - view.x) * now + size.width / 2,
    (sheet.view.y - height / 2 / before - view.y) * now + size.height / 2,
    (width / before) * now,
    (height / before) * now,
  );
  context.restore();
}
