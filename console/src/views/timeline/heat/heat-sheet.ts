/** The heat layer as it was drawn for one view of the map, and where it belongs in another one. */
import { outline } from '../map/map';
import { unit, type MapView, type Size } from '../map/map-view';

export interface HeatSheet {
  picture: HTMLCanvasElement;
  view: MapView;
  size: Size;
  isSmooth: boolean;
  /** Says what is at a place; null where there is nothing. */
  describe: (lat: number, lon: number) => { title: string; text: string } | null;
}

/** Draws the layer where it belongs in the present view: until it is drawn anew, what there is moves with the map. */
export function placeHeat(context: CanvasRenderingContext2D, sheet: HeatSheet, view: MapView, size: Size): void {
  const [before, now] = [unit(sheet.size, sheet.view.zoom), unit(size, view.zoom)];
  const { width, height } = sheet.size;
  context.save();
  // Beyond the edge of the world its other side would begin.
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
