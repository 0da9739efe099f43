"""Good pages that speak of walls and errors, or look like some."""

# name -> (verdict, page); {nav}, {foot} and {article} stand for what surrounds it.
GOOD: dict[str, tuple[str, str]] = {
    "good, article on captcha": (
        "good",
        "<title>How CAPTCHA works - Tech Blog</title><body>{nav}<h1>Verify you are human: a history of "
        "CAPTCHA</h1>{article}{foot}",
    ),
    "good, help 404": (
        "good",
        "<title>What is a 404 error? | Help</title><body>{nav}<h1>What does 404 page not found mean?</h1>{article}",
    ),
    "good, short product": (
        "good",
        "<title>Blue mug – Shop</title><body>{nav}<h1>Blue mug</h1><p>12,90 €</p><p>A mug of stoneware, 0.3 "
        "l.</p><button>Add to basket</button>{foot}",
    ),
    "good, product sold out": (
        "good",
        '<title>Blue mug – Shop</title><script type="application/ld+json">{"@type":"Product","name":"Blue '
        "mug\"}</script><body>{nav}<h1>Blue mug</h1><p>$12.90</p><p>Currently unavailable. We don't know when "
        "or if this item will be back in stock.</p>{foot}",
    ),
    "good, product oos no ld": (
        "good",
        "<title>Blue mug – Shop</title><body>{nav}<h1>Blue mug</h1><p>$12.90</p><p>This item is temporarily out "
        "of stock.</p>{foot}",
    ),
    "good, search empty": (
        "good",
        "<title>Search results for foo</title><body>{nav}<h1>No results for foo</h1><p>Try another "
        "term.</p><form><input type=search></form>{foot}",
    ),
    "good, contact w captcha": (
        "good",
        "<title>Contact us</title><body>{nav}<h1>Contact us</h1><p>Write to us and we will answer within two "
        "days.</p><form><input type=text name=name><input type=email><textarea></textarea><div "
        "class='g-recaptcha'></div><button>Send</button></form>{foot}",
    ),
    "good, newsletter w hcaptcha": (
        "good",
        "<title>Newsletter</title><body><h1>Our newsletter</h1><p>News once a month, no spam.</p><form><input "
        "type=email><div class=h-captcha></div><button>Subscribe</button></form>",
    ),
    "good, register": (
        "good",
        "<title>Create account</title><body><h1>Create account</h1><form><input type=text name=name><input "
        "type=email><input type=password><input type=password><button>Create account</button></form>",
    ),
    "good, status page": (
        "good",
        "<title>Example Status</title><body><h1>All Systems Operational</h1><p>API Operational</p><p>Website "
        "Operational</p><h2>Past incidents</h2><p>Scheduled maintenance: completed.</p>",
    ),
    "good, maintenance service firm": (
        "good",
        "<title>Elevator maintenance in Hamburg - Lift Ltd</title><body>{nav}<h1>Elevator maintenance</h1><p>We "
        "maintain lifts of all makes. Ask us for an offer. Our technicians are there around the clock, in all "
        "of the north.</p><p>Call 040 123456.</p>{foot}",
    ),
    "good, queue book": (
        "good",
        "<title>Message queue - Wikipedia</title><body>{nav}<h1>Message queue</h1>{article}",
    ),
    "good, cookies recipe": (
        "good",
        "<title>Chocolate chip cookies</title><body>{nav}<h1>Chocolate chip cookies</h1><p>Mix butter and "
        "sugar, add eggs, flour and chocolate. Bake at 180 degrees for 12 "
        "minutes.</p><button>Print</button><form><input type=search></form>",
    ),
    "good, privacy policy": (
        "good",
        "<title>Privacy policy</title><body>{nav}<h1>Privacy policy</h1>{article}<p>We use cookies with your "
        "consent.</p><button>Change consent</button>",
    ),
    "good, cookie policy short": (
        "good",
        "<title>Cookie policy</title><body>{nav}<h1>Cookie policy</h1><p>This site sets a cookie for the "
        "language and one for the basket. Neither is read by others.</p><h2>How to delete cookies</h2><p>In the "
        "settings of your browser.</p><h2>Contact</h2><p>Write to us.</p>{foot}",
    ),
    "good, blocked drain": (
        "good",
        "<title>Blocked drains cleared - Plumber</title><body>{nav}<h1>Blocked drains</h1><p>We clear blocked "
        "drains and sinks within the hour, day and night. From 89.</p>{foot}",
    ),
    "good, house 404": (
        "good",
        "<title>House 404 - Rentals</title><body>{nav}<h1>404 Beach Road</h1><p>Three rooms, sea view, 1,200 a "
        "month.</p>{foot}",
    ),
    "good, peugeot 404": (
        "good",
        "<title>Peugeot 404</title><body>{nav}<h1>Peugeot 404</h1><p>The Peugeot 404 is a large family car "
        "produced from 1960 to 1975. Styled by Pininfarina, it was offered initially as a saloon.</p>",
    ),
    "good, login banner": (
        "good",
        "<title>News</title><body>{nav}<h1>Council votes for bridge</h1><p>Log in to comment.</p>{article}",
    ),
    "good, denied news": (
        "good",
        "<title>Access denied: how towns lose their beaches</title><body>{nav}<h1>Access denied: how towns lose "
        "their beaches</h1>{article}",
    ),
    "good, short landing": (
        "good",
        "<title>Acme</title><body><h1>We make anvils</h1><p>Since 1912.</p><a href=/shop>Shop</a><a "
        "href=/about>About</a><img src=a.jpg><img src=b.jpg>",
    ),
    "good, gallery": (
        "good",
        '<title>Photos</title><body><img src="0.jpg"><img src="1.jpg"><img src="2.jpg"><img src="3.jpg"><img '
        'src="4.jpg"><img src="5.jpg"><img src="6.jpg"><img src="7.jpg"><img src="8.jpg"><img src="9.jpg"><img '
        'src="10.jpg"><img src="11.jpg"><script src=a.js></script>',
    ),
    "good, json-like table": (
        "good",
        "<title>Data</title><body><table><tr><td>0</td><td>0</td></tr><tr><td>1</td><td>1"
        "</td></tr><tr><td>2</td><td>4</td></tr><tr><td>3</td><td>9</td></tr><tr><td>4</t"
        "d><td>16</td></tr><tr><td>5</td><td>25</td></tr><tr><td>6</td><td>36</td></tr><t"
        "r><td>7</td><td>49</td></tr><tr><td>8</td><td>64</td></tr><tr><td>9</td><td>81</"
        "td></tr><tr><td>10</td><td>100</td></tr><tr><td>11</td><td>121</td></tr><tr><td>"
        "12</td><td>144</td></tr><tr><td>13</td><td>169</td></tr><tr><td>14</td><td>196</"
        "td></tr><tr><td>15</td><td>225</td></tr><tr><td>16</td><td>256</td></tr><tr><td>"
        "17</td><td>289</td></tr><tr><td>18</td><td>324</td></tr><tr><td>19</td><td>361</"
        "td></tr><tr><td>20</td><td>400</td></tr><tr><td>21</td><td>441</td></tr><tr><td>"
        "22</td><td>484</td></tr><tr><td>23</td><td>529</td></tr><tr><td>24</td><td>576</"
        "td></tr><tr><td>25</td><td>625</td></tr><tr><td>26</td><td>676</td></tr><tr><td>"
        "27</td><td>729</td></tr><tr><td>28</td><td>784</td></tr><tr><td>29</td><td>841</"
        "td></tr><tr><td>30</td><td>900</td></tr><tr><td>31</td><td>961</td></tr><tr><td>"
        "32</td><td>1024</td></tr><tr><td>33</td><td>1089</td></tr><tr><td>34</td><td>115"
        "6</td></tr><tr><td>35</td><td>1225</td></tr><tr><td>36</td><td>1296</td></tr><tr"
        "><td>37</td><td>1369</td></tr><tr><td>38</td><td>1444</td></tr><tr><td>39</td><t"
        "d>1521</td></tr><tr><td>40</td><td>1600</td></tr><tr><td>41</td><td>1681</td></t"
        "r><tr><td>42</td><td>1764</td></tr><tr><td>43</td><td>1849</td></tr><tr><td>44</"
        "td><td>1936</td></tr><tr><td>45</td><td>2025</td></tr><tr><td>46</td><td>2116</t"
        "d></tr><tr><td>47</td><td>2209</td></tr><tr><td>48</td><td>2304</td></tr><tr><td"
        ">49</td><td>2401</td></tr></table>",
    ),
    "good, faq page": (
        "good",
        "<title>FAQ</title><body>{nav}<h1>Frequently asked questions</h1><h2>Why is my order not "
        "available?</h2><p>Because it was sent.</p><h2>I can't log in, what now?</h2><p>Use the link for a new "
        "password.</p><h2>Page not found?</h2><p>Use the search.</p>{foot}",
    ),
    "good, sold listing": (
        "good",
        "<title>3 rooms in the centre</title><body>{nav}<h1>3 rooms in the centre</h1><p>Sold for $450,000 on 3 "
        "May.</p><p>The flat has a balcony to the south, a cellar and a place for the car. The kitchen is from "
        "2020.</p>",
    ),
    "good, country selector": (
        "good",
        "<title>Choose your country</title><body><h1>Choose your country</h1><a href=/0>Country 0</a><a "
        "href=/1>Country 1</a><a href=/2>Country 2</a><a href=/3>Country 3</a><a href=/4>Country 4</a><a "
        "href=/5>Country 5</a><a href=/6>Country 6</a><a href=/7>Country 7</a><a href=/8>Country 8</a><a "
        "href=/9>Country 9</a><a href=/10>Country 10</a><a href=/11>Country 11</a><a href=/12>Country 12</a><a "
        "href=/13>Country 13</a><a href=/14>Country 14</a><a href=/15>Country 15</a><a href=/16>Country "
        "16</a><a href=/17>Country 17</a><a href=/18>Country 18</a><a href=/19>Country 19</a><a "
        "href=/20>Country 20</a><a href=/21>Country 21</a><a href=/22>Country 22</a><a href=/23>Country "
        "23</a><a href=/24>Country 24</a><a href=/25>Country 25</a><a href=/26>Country 26</a><a "
        "href=/27>Country 27</a><a href=/28>Country 28</a><a href=/29>Country 29</a><a href=/30>Country "
        "30</a><a href=/31>Country 31</a><a href=/32>Country 32</a><a href=/33>Country 33</a><a "
        "href=/34>Country 34</a><a href=/35>Country 35</a><a href=/36>Country 36</a><a href=/37>Country "
        "37</a><a href=/38>Country 38</a><a href=/39>Country 39</a>",
    ),
    "good, search home": (
        "good",
        "<title>Search</title><body><form><input type=search name=q><button>Search</button></form><a "
        "href=/about>About</a>",
    ),
    "good, docs 429": (
        "good",
        "<title>Rate limits - API docs</title><body>{nav}<h1>Rate limits</h1><p>Clients may send 100 requests "
        "per minute.</p><pre>HTTP/1.1 429 Too Many Requests</pre><p>Wait as Retry-After says, then go on.</p>",
    ),
    "good, wait times": (
        "good",
        "<title>Waiting times of the surgery</title><body>{nav}<h1>Waiting times</h1><p>The estimated wait time "
        "in our surgery is 20 minutes on Mondays and 10 on other days. Appointments by phone.</p>{foot}",
    ),
    "good, vpn review": (
        "good",
        "<title>Best VPN 2026</title><body>{nav}<h1>The best VPNs</h1>{article}",
    ),
    "good, book robots": (
        "good",
        "<title>I, Robot - Books</title><body>{nav}<h1>I, Robot</h1><p>£7.99</p><p>Nine stories on robots that "
        "are not quite human.</p>",
    ),
    "good, job ad": (
        "good",
        "<title>Maintenance engineer (m/f/d)</title><body>{nav}<h1>Maintenance engineer</h1><p>For our plant in "
        "Ulm we look for you. You keep our lines going and plan scheduled maintenance together with production. "
        "We offer 30 days of leave.</p><a href=#>Apply</a>",
    ),
    "good, article without a title": (
        "good",
        "<body><h1>The masons of the valley</h1>"
        + "<p>They came each spring with sand and lime, and laid one course of stones upon the other.</p>" * 14,
    ),
    "good, landing page with a banner": (
        "good",
        "<title>Acme anvils</title><body><div><h2>We value your privacy</h2><p>We use cookies.</p><button>Accept all"
        "</button><button>Reject all</button></div><h1>We make anvils</h1><p>Since 1912, by hand.</p><h2>Our shop</h2>"
        "<a href=/shop>All anvils</a><a href=/about>Who we are</a>",
    ),
}
