// What the report draws with, and no more: bars, lines, and rows of its own.
import {use, init} from 'echarts/core';
import {BarChart, CustomChart, LineChart} from 'echarts/charts';
import {GridComponent, TooltipComponent} from 'echarts/components';
import {SVGRenderer} from 'echarts/renderers';

use([BarChart, CustomChart, LineChart, GridComponent, TooltipComponent, SVGRenderer]);

export {init};
